/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where this was built without libpcap. */

#include <errno.h>

#include "capture.h"

const bool capture_supported = false;

int capture_open(FILE *file, const char *name, const struct log *log, struct capture **ret)
{
        log_error(log, "%s cannot be read: this joulecast was built without libpcap, which reads captured "
                       "packets", name);
        fclose(file);
        return -ENOTSUP;
}

bool capture_is_ordered(const struct capture *capture)
{
        return true;
}

bool capture_may_tell(const struct capture *capture)
{
        return true;
}

int capture_next(struct capture *capture, struct captured *ret)
{
        return 0;
}

void capture_close(struct capture *capture)
{
}

void capture_closep(struct capture **capture)
{
}

int capture_writer_new(size_t kept_max, struct capture_writer **ret)
{
        return -ENOTSUP;
}

void capture_writer_add(struct capture_writer *writer, const struct captured *packet)
{
}

int capture_writer_end(struct capture_writer *writer, char **ret, size_t *ret_length)
{
        return -ENOTSUP;
}
