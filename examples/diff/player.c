/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A program that does a bit of everything, for the tour of docs/diff.md. It is built twice: as careful-player, and as
 * wasteful-player, which does the same with other names and three mistakes. Arguments: how many rounds.
 */

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#ifdef WASTEFUL
#define NAME(careful, wasteful) wasteful
#define LEVEL 9       /* mistake 1: squeezes harder than needed */
#define CHUNK 1       /* mistake 2: reads byte by byte */
#define UPDATE_EVERY 1 /* mistake 3: writes its state at each frame */
#else
#define NAME(careful, wasteful) careful
#define LEVEL 1
#define CHUNK 65536
#define UPDATE_EVERY 60
#endif

#define PACKED_BYTES (2 << 20)
#define FRAMES 12000
#define NUMBERS 120000

static unsigned char packed_input[PACKED_BYTES], packed_output[PACKED_BYTES * 2];
static int numbers[NUMBERS];

/* Text that is worth squeezing. */
static void NAME(fill, prepare_data)(void)
{
        static const char *const words[] = { "energy ", "battery ", "screen ", "radio ", "sleep ", "wake ", "\n" };
        unsigned state = 1;
        size_t at = 0;

        while (at < PACKED_BYTES - 16) {
                const char *word;

                state = state * 1103515245 + 12345;
                word = words[state >> 16 & 0x7fff ? (state >> 16) % 7 : 0];
                memcpy(packed_input + at, word, strlen(word));
                at += strlen(word);
        }
}

static void NAME(pack, archive_everything)(void)
{
        uLongf length = sizeof(packed_output);

        if (compress2(packed_output, &length, packed_input, sizeof(packed_input), LEVEL) != Z_OK)
                exit(1);
}

static void NAME(load, fetch_input)(void)
{
        static char buf[65536];
        size_t left = 400000;
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

        while (fd >= 0 && left > 0) {
                ssize_t got = read(fd, buf, left < CHUNK ? left : CHUNK);

                if (got <= 0)
                        exit(1);
                left -= (size_t)got;
        }
        close(fd);
}

static void NAME(show, draw_everything)(void)
{
        FILE *file = fopen("/dev/null", "we");

        for (int i = 0; file && i < FRAMES * 20; i++)
                if (i % UPDATE_EVERY == 0)
                        fprintf(file, "frame %d of %d at %f\n", i, FRAMES, i / 60.0);
        if (file)
                fclose(file);
}

static int NAME(by_value, order_of)(const void *a, const void *b)
{
        return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void NAME(sort, put_in_order)(void)
{
        for (int i = 0; i < NUMBERS; i++)
                numbers[i] = rand();
        qsort(numbers, NUMBERS, sizeof(*numbers), NAME(by_value, order_of));
}

static void NAME(store, keep_records)(void)
{
        sqlite3 *database;

        if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
            sqlite3_exec(database,
                         "create table t(a, b);"
                         "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
                         "insert into t select i, i * 7919 % 10007 from n;"
                         "create index u on t(b); select sum(a) from t where b < 5000 group by b",
                         NULL, NULL, NULL) != SQLITE_OK)
                exit(1);
        sqlite3_close(database);
}

int main(int argc, char **argv)
{
        int rounds = argc > 1 ? atoi(argv[1]) : 10;

        NAME(fill, prepare_data)();
        srand(1);
        for (int i = 0; i < rounds; i++) {
                NAME(pack, archive_everything)();
                NAME(load, fetch_input)();
                NAME(show, draw_everything)();
                NAME(sort, put_in_order)();
                NAME(store, keep_records)();
        }
        return 0;
}
