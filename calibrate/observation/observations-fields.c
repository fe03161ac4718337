/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fields as SQL columns. */

#include "observations-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

int observations_prepare_fields(struct observations *observations, const char *before,
                                const struct field *fields, size_t n, const char *after, sqlite3_stmt **ret)
{
        char sql[1024];
        size_t length = (size_t)snprintf(sql, sizeof(sql), "%s", before);

        for (size_t i = 0; i < n && length < sizeof(sql); i++)
                length += (size_t)snprintf(sql + length, sizeof(sql) - length, "%s, ",
                                           fields == observation_fields &&
                                                           observations_lack(observations, fields[i].key)
                                                   ? "NULL"
                                                   : fields[i].key);
        if (length < sizeof(sql))
                length += (size_t)snprintf(sql + length, sizeof(sql) - length, "%s", after);
        return length < sizeof(sql) ? observations_prepare(observations, sql, ret) : -E2BIG;
}

static uint32_t column_u32(sqlite3_stmt *statement, int column)
{
        int64_t value = sqlite3_column_int64(statement, column);

        return value < 0 || value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* Text from the file is untrusted: cut it and remove control characters. */
static void column_text(sqlite3_stmt *statement, int column, char *buf, size_t size)
{
        const char *text = (const char *)sqlite3_column_text(statement, column);

        util_printable(text ? text : "", buf, size);
}

void observations_read_fields(sqlite3_stmt *statement, const struct field *fields, size_t n, void *to)
{
        for (size_t i = 0; i < n; i++) {
                char *at = (char *)to + fields[i].offset;
                int column = (int)i;

                switch (fields[i].kind) {
                case FIELD_U32:
                        *(uint32_t *)at = column_u32(statement, column);
                        break;
                case FIELD_U64:
                        *(uint64_t *)at = (uint64_t)MAX(sqlite3_column_int64(statement, column), 0);
                        break;
                case FIELD_I64:
                        *(int64_t *)at = sqlite3_column_int64(statement, column);
                        break;
                case FIELD_REAL:
                        *(double *)at = sqlite3_column_type(statement, column) == SQLITE_NULL
                                                ? NAN : sqlite3_column_double(statement, column);
                        break;
                case FIELD_BOOL:
                        *(bool *)at = sqlite3_column_int(statement, column) != 0;
                        break;
                case FIELD_TEXT:
                        column_text(statement, column, at, fields[i].size);
                        break;
                default: /* no column has it */
                        break;
                }
        }
}

void observations_bind_fields(sqlite3_stmt *statement, const struct field *fields, size_t n,
                              const void *from)
{
        for (size_t i = 1; i < n; i++) { /* the id is SQLite's to choose */
                const char *at = (const char *)from + fields[i].offset;
                int column = (int)i + 1;

                switch (fields[i].kind) {
                case FIELD_U32:
                        sqlite3_bind_int64(statement, column, *(const uint32_t *)at);
                        break;
                case FIELD_U64:
                case FIELD_I64:
                        sqlite3_bind_int64(statement, column, *(const int64_t *)at);
                        break;
                case FIELD_REAL:
                        if (isfinite(*(const double *)at)) /* else NULL */
                                sqlite3_bind_double(statement, column, *(const double *)at);
                        break;
                case FIELD_BOOL:
                        sqlite3_bind_int(statement, column, *(const bool *)at);
                        break;
                case FIELD_TEXT:
                        sqlite3_bind_text(statement, column, at, -1, SQLITE_STATIC);
                        break;
                default:
                        break;
                }
        }
}
