/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without zlib. */

#include <errno.h>

#include "gzip.h"

int gzip_open(int fd, const char *head, size_t n, struct gzip **ret)
{
        return -ENOTSUP;
}

ssize_t gzip_read(struct gzip *gzip, char *buf, size_t size)
{
        return -ENOTSUP;
}

void gzip_close(struct gzip *gzip)
{
}

int gzip_pack(const char *data, size_t length, char **ret, size_t *ret_length)
{
        return -ENOTSUP;
}
