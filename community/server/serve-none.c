/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "serve.h"
#include "util/options.h"

int serve_run(const struct serve_options *options, const struct log *log)
{
        log_error(log, "serve: this program was built without a server (libmicrohttpd)");
        return CODE_FAILED;
}
