/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Bytes of the phone's disks, counted by QEMU, over a QMP socket. Asks without waiting for the answer, so that a
 * slow answer delays nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blocks {
        int fd;                           /* -1: no such socket was named */
        bool asked;
        char text[65536];
        size_t length;
        uint64_t read_bytes, write_bytes; /* sums over all disks in the last answer */
};

int blocks_open(struct blocks *blocks, const char *path); /* 0; -errno */
void blocks_close(struct blocks *blocks);
/* Takes an answer, if one has arrived, and asks again. 0; -errno. */
int blocks_look(struct blocks *blocks);

/*
 * Parses one line of QMP. 1: it was an answer with disks,
 * and their sums are returned; 0: something else; -EPROTO: an error.
 */
int blocks_parse(const char *line, uint64_t *read_bytes, uint64_t *write_bytes);
