/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Files compressed by gzip. */

#include <stddef.h>
#include <stdio.h>

/* Opens a file, or standard input if @path is "-", as gzip_unpack() does. 0; a negative errno, also of that. */
int gzip_open(const char *path, FILE **ret);
/*
 * Takes a file, and closes it after an error. If it is compressed, @ret is a stream of its content, for which reading
 * fails with EBADMSG where the file is damaged or cut off; else it is @file. 0; -ENOMEM; -ENOTSUP: built without zlib.
 */
int gzip_unpack(FILE *file, FILE **ret);
/* The reason, for a sentence that names the file. @err: negative, by these functions or reading. */
const char *gzip_reason(int err);
/* A stream of what gzip compressed in @file, which fclose() closes, too. 0; -ENOMEM; -ENOTSUP. */
int gzip_stream(FILE *file, FILE **ret);
/* Compresses a whole file. 0; -ENOMEM; -ENOTSUP: built without zlib. free() @ret. */
int gzip_pack(const char *data, size_t length, char **ret, size_t *ret_length);
