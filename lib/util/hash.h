/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Hash tables: uthash(3) with memory errors returned instead of exit(). An entry carries `UT_hash_handle hh` and must
 * not move while it is in a table.
 */

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* To be called after HASH_ADD...(); false: there was no memory for it. */
#define HASH_HAS(entry) ((entry)->hh.tbl != NULL)

/* Empties a table whose entries own nothing; @head is NULL then. */
#define HASH_FREE(head)                                                 \
        do {                                                            \
                __typeof__(head) hash_entry, hash_next;                 \
                                                                        \
                HASH_ITER(hh, head, hash_entry, hash_next) {            \
                        HASH_DEL(head, hash_entry);                     \
                        free(hash_entry);                               \
                }                                                       \
        } while (0)
