/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checksums of the pages of a database, as a file system of SQLite's. */

#include <sqlite3.h>
#include <stdbool.h>

#define STORE_VFS "joulecast"
#define STORE_SUM_BYTES 8
#define STORE_HEADER_BYTES 100 /* length of the header in a database's first page */
#define STORE_HAS_SUMS 0x4a4f55 /* a file control of ours: int *, whether this database has checksums */

/* Makes it known by its name. A database without checksums is read and written as it is. Returns a code of SQLite's. */
int store_register_vfs(void);
/* Whether a database with this header reserves the bytes for checksums. */
bool store_has_sums(const unsigned char *header);
/* The checksum of a page of @size bytes, whose place is in its last ones. */
void store_sum_page(const unsigned char *page, int size, unsigned char ret[STORE_SUM_BYTES]);
