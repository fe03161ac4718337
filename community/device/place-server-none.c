/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Used in a build without libcurl, which can only use folders. */

#include <errno.h>

#include "place-server.h"

static int refuse(const struct log *log)
{
        log_error(log, "this joulecast was built without libcurl and reaches no server; a folder can be joined");
        return -ENOTSUP;
}

int server_check(const char *where, const struct log *log, char **ret)
{
        return refuse(log);
}

int server_send(struct member *member, const struct compose_upload *upload, const struct log *log,
                struct place_receipt *ret)
{
        return refuse(log);
}

int server_forget(const struct member *member, const struct log *log, struct place_forgotten *ret)
{
        return refuse(log);
}

int server_send_card(const struct member *member, const char *text, const struct log *log)
{
        return refuse(log);
}

int server_pool(const struct member *member, const char *file, const struct log *log, char **ret)
{
        return refuse(log);
}

int server_report(const struct member *member, const struct log *log, char **ret)
{
        return refuse(log);
}
