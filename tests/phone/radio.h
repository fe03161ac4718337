/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What crossed the air, as the far end tells it (air.c): a file of JSON lines that grows,
 * {"at": S, "associated": true, "rx_bytes": N, "tx_bytes": N}, bytes as the phone would call them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct radio {
        const char *path;  /* NULL: there is no radio */
        int fd;            /* -1: it is not there yet */
        char text[8192];
        size_t length;

        bool heard, associated;
        double at_s, last_burst_s;
        uint64_t rx_total, tx_total;
        uint64_t rx_bytes, tx_bytes, wakes; /* since they were last taken */
};

void radio_open(struct radio *radio, const char *path);
void radio_close(struct radio *radio);
/* Reads what has come. 0; -errno. */
int radio_look(struct radio *radio);
/* One line. 0; -EPROTO. */
int radio_take(struct radio *radio, const char *line);
