/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Traffic of the phone's radio, counted at the other end (air.c): a growing file of JSON lines,
 * {"at": S, "associated": true, "rx_bytes": N, "tx_bytes": N}; rx is what the phone receives.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct phone_radio {
        const char *path;  /* NULL: there is no radio */
        int fd;            /* -1: it is not there yet */
        char text[8192];
        size_t length;

        bool heard, associated;
        double at_s, last_burst_s;
        uint64_t rx_total, tx_total;
        uint64_t rx_bytes, tx_bytes, wakes; /* since they were last taken */
};

void radio_open(struct phone_radio *radio, const char *path);
void radio_close(struct phone_radio *radio);
/* Reads what has come. 0; -errno. */
int radio_look(struct phone_radio *radio);
/* One line. 0; -EPROTO. */
int radio_take(struct phone_radio *radio, const char *line);
