/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A mode is a state in which calibration holds the device while it watches the
 * battery: which frequencies are pinned, what the screen and the radio do, what
 * load runs. The plan is a table of modes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"

#define MODE_NAME_MAX 48

struct mode {
        char name[MODE_NAME_MAX];  /* "idle", "cpu.0.1026000.one", "display.178", "wifi.wake" ... */
        char kind[16];             /* idle cpu display picture disk wifi radio cellular gpu mixed burn: for tables and checks */
        uint32_t policy_khz[8];    /* by index of the policy; 0: its lowest */
        uint32_t policy_cores[8];  /* spinning threads, one a core */
        bool screen_on;
        uint32_t brightness;
        double dark;               /* part of white's light that the picture lacks; 0: white, as usual */
        bool wifi_on;
        double read_mb_per_s;      /* asked; the regressors are what the counters then say */
        double write_mb_per_s;
        double rx_mb_per_s;
        double tx_mb_per_s;
        double wakes_per_s;
        double packets_per_s;      /* evenly spaced or ... */
        uint32_t burst_packets;    /* ... so many at a time; 0: one */
        bool large_packets;        /* they fill a network's usual packet, and are small else */
        enum air air;              /* where bytes, bursts and packets go */
        uint32_t operation_bytes;  /* of one read or write; 0: as suits the storage */
        uint32_t operations;       /* in one pass over the file; passes repeat as long as the mode lasts */
        double gpu;                /* 0..1 */
        bool held_back;            /* mixed rows that validate the profile and are never fitted */
};
