/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The process between both TUN devices. */

#include "relay.h"
#include "shaper.h"
#include "util/util.h"

#define WIRE_REST_S 10

struct wire {
        struct shaper_plan plan;
        int app_tun, middle_tun;
        int listening;            /* NETLINK_SOCK_DIAG of the app's namespace: on which ports does it listen itself? */
        int maker;                /* -1: nothing is outside */
        int stop;                 /* readable when it is to end */
        int log;                  /* gets struct packet_record */
        int heads;                /* gets a struct packet_head for each, with plan.heads */
        int names;                /* gets struct name_record, of answers of DNS */
        bool outside;
        const atomic_i64 *origin_ns; /* shared memory; 0 until the run begins */
        struct relay_slow *slow;  /* shared memory */
};

/*
 * Ends when @stop says so, and the kernel has sent what the app wrote before it ended, for WIRE_REST_S at most;
 * and by a failure, with that exit status.
 */
int wire_run(const struct wire *wire);
/* Does a socket of that network namespace wait on a port, at an address of the loopback or at any? */
bool wire_sends(int listening); /* does its TCP still send what closed sockets were given? */
bool wire_listens(int listening, uint8_t protocol, uint16_t port);
