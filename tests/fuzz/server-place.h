/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A folder in memory with a database of a community, which is empty again after each input. */

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "server/database.h"
#include "util/util.h"

static char server_place[64];

static inline void server_place_remove(const char *folder)
{
        char line[128];

        snprintf(line, sizeof(line), "rm -rf '%s'", folder);
        fuzz_assert(system(line) == 0);
}

static inline void server_place_end(void)
{
        server_place_remove(server_place);
}

/* @database: its path, of 96 bytes. */
static inline void server_place_begin(char database[96])
{
        fuzz_assert(mkdtemp((char *)(uintptr_t)fuzz_place(server_place, "server")));
        fuzz_assert(atexit(server_place_end) == 0);
        snprintf(database, 96, "%s/a.db", server_place);
}

static inline void server_place_empty(struct database *database)
{
        static const char *const tables[] = { "sample", "client_rate", "context", "client", "app", "pending", "joined",
                                              "quota" };
        char sql[64];

        for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
                snprintf(sql, sizeof(sql), "DELETE FROM %s", tables[i]);
                fuzz_assert(database_run(database, sql) == 0);
        }
}
