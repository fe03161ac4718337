/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <utmpx.h>

#include "fuzz.h"
#include "hold/remote-login.h"
#include "util/util.h"

/* Entries of utmp as in the file, which glibc reads without checks; missing bytes are zeros. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        while (size > 0) {
                _cleanup_free_ struct utmpx *entry = calloc(1, sizeof(*entry));
                size_t length = MIN(size, sizeof(*entry));
                struct address address = { .family = -1 };
                int err;

                fuzz_assert(entry);
                memcpy(entry, data, length);
                err = remote_login_parse_utmp(entry, &address);
                fuzz_assert(err == 0 || err == -ENOENT || err == -EINVAL);
                fuzz_assert(err || address.family == AF_INET || address.family == AF_INET6);
                fuzz_assert(err == -ENOENT || entry->ut_type == USER_PROCESS);
                data += length;
                size -= length;
        }
        return 0;
}
