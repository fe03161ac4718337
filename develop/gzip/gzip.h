/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Files compressed by gzip. */

#include <stddef.h>
#include <sys/types.h>

struct gzip;

/* @head: @n bytes (at most 64) that were read from @fd already. 0; -ENOMEM; -ENOTSUP: built without zlib. */
int gzip_open(int fd, const char *head, size_t n, struct gzip **ret);
/* Reads up to @size bytes; fewer at the end. -EBADMSG: damaged or cut off; another negative errno of read(). */
ssize_t gzip_read(struct gzip *gzip, char *buf, size_t size);
void gzip_close(struct gzip *gzip);
/* Compresses a whole file. 0; -ENOMEM; -ENOTSUP: built without zlib. free() @ret. */
int gzip_pack(const char *data, size_t length, char **ret, size_t *ret_length);
