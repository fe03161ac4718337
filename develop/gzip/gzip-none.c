/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without zlib. */

#include <errno.h>

#include "gzip.h"

int gzip_stream(FILE *file, FILE **ret)
{
        return -ENOTSUP;
}

int gzip_pack(const char *data, size_t length, char **ret, size_t *ret_length)
{
        return -ENOTSUP;
}
