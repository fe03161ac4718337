/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemons.h"

#include <errno.h>
#include <stdlib.h>

#include "util/util.h"

#define VARIABLE "JOULECAST_DAEMONS_TAU_S"

int daemons_tau(const struct log *log, double *ret)
{
        const char *text = getenv(VARIABLE);

        *ret = DAEMONS_TAU_S;
        if (!text || (util_parse_double(text, ret) == 0 && *ret >= 0.1 && *ret <= 86400))
                return 0;
        log_error(log, "%s wants 0.1 to 86400 seconds, not \"%s\"", VARIABLE, text);
        return -EINVAL;
}
