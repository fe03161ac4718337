/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "gzip.h"
#include "util/util.h"
#include "util/words.h"

#define FIRST 0x1f /* first byte of a compressed file; of no text, nor of another file that joulecast reads */

int gzip_unpack(FILE *file, FILE **ret)
{
        int first = getc(file), err = 0;

        if (first != EOF)
                ungetc(first, file);
        if (first == FIRST)
                err = gzip_stream(file, ret);
        else
                *ret = file;
        if (err < 0)
                fclose(file);
        return err;
}

int gzip_open(const char *path, FILE **ret)
{
        FILE *file = strcmp(path, "-") == 0 ? fdopen(dup(STDIN_FILENO), "re") : fopen(path, "re");

        return file ? gzip_unpack(file, ret) : -errno;
}

const char *gzip_reason(int err)
{
        if (err == -EBADMSG)
                return _("the file that gzip compressed is cut off or damaged");
        if (err == -ENOTSUP)
                return _("it is compressed, and joulecast was built without zlib; unpack it with gunzip");
        return util_reason(err);
}
