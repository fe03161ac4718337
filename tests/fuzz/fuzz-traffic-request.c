/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "traffic/request.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *line = strndup((const char *)data, size);
        struct request request;
        char error[256] = "";

        fuzz_assert(line);
        if (request_parse(line, &request, error, sizeof(error)) < 0) {
                fuzz_assert(*error);
                return 0;
        }
        if (request.kind == REQUEST_STOP)
                return 0;
        fuzz_assert(!request.url[0] != !request.peer[0]);
        fuzz_assert(request.seconds > 0 && request.seconds <= 86400 && request.port);
        if (request.kind == REQUEST_WAKE)
                fuzz_assert(request.silence_s >= 0.005 && request.packets >= 1 &&
                            request.packets <= 1000 * request.silence_s);
        else
                fuzz_assert(request.bytes_per_s >= 1000);
        return 0;
}
