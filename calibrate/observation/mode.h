/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A mode is a state in which calibration holds the device while it watches the
 * battery: the pinned frequencies, the states of screen and radios, and the
 * load. The plan is a table of modes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"

#define MODE_NAME_MAX 48

/* Loops that a busy core runs. */
enum kernel {
        KERNEL_SPIN,   /* dependent arithmetic in registers: the usual load */
        KERNEL_ILP,    /* independent arithmetic: many instructions per cycle */
        KERNEL_STREAM, /* reads and writes more memory than the caches hold */
};

struct mode {
        char name[MODE_NAME_MAX];  /* "idle", "cpu.0.1026000.one", "display.178", "wifi.wake" ... */
        /* Idle cpu kind display picture disk wifi radio cellular gpu mixed burn: for tables and checks. */
        char kind[16];
        uint32_t policy_khz[8];    /* by index of the policy; 0: its lowest */
        uint32_t policy_cores[8];  /* threads that are always busy, one per core */
        enum kernel kernel;        /* the loop that they run */
        bool screen_on;
        uint32_t brightness;
        double dark;               /* part of white's light that the picture lacks; 0: white, as usual */
        bool wifi_on;
        double read_mb_per_s;      /* requested rates; the regressors are the counters' values */
        double write_mb_per_s;
        double rx_mb_per_s;
        double tx_mb_per_s;
        double wakes_per_s;
        double packets_per_s;      /* evenly spaced or ... */
        uint32_t burst_packets;    /* ... this number at a time; 0: one */
        bool large_packets;        /* true: packets of the network's usual full size; false: small packets */
        enum air air;              /* the radio that carries bytes, bursts and packets */
        uint32_t operation_bytes;  /* size of one read or write; 0: a size that suits the storage */
        uint32_t operations;       /* number in one pass over the file; passes repeat as long as the mode lasts */
        double gpu;                /* 0..1 */
        bool held_back;            /* mixed rows that validate the profile and are never fitted */
};
