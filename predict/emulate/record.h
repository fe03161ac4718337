/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a run writes down: packets, and CPU time. All times are ns since it began. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "radio/radio-run.h"

enum packet_verdict {
        PACKET_DELIVERED,
        PACKET_LOST,    /* over the air */
        PACKET_DROPPED, /* the queue was full: it was never sent */
        PACKET_WAITING, /* when the app ended */
};

/* A packet of the app, as it stands in the file. */
struct packet_record {
        int64_t in_ns;    /* it came to the link */
        int64_t start_ns; /* its first bit went over the link */
        int64_t link_ns;  /* its last bit did */
        int64_t due_ns;   /* it should have been delivered */
        int64_t out_ns;   /* it was, as the clock said; 0: never */
        int64_t host_ns;  /* what it waits in this machine's own network, which is taken off its delay; 0: not known */
        int64_t left_ns;  /* of that, what is more than its delay */
        uint32_t bytes;
        uint8_t direction; /* enum radio_direction */
        uint8_t verdict;
        uint8_t woke;      /* it came while the radio slept, and waited until that was awake */
        uint8_t queued;    /* the link was busy when it came */
        uint8_t protocol;  /* of IP */
        uint16_t port;     /* of the peer; 0: there is none */
        uint32_t peer;     /* the far address, in host order */
};

#define RECORD_HEAD_MAX 128

/* The first bytes of a packet, with the addresses that it has on the link. */
struct packet_head {
        uint8_t bytes[RECORD_HEAD_MAX];
};

/* What the radio did at a time, by a packet. */
struct radio_event {
        int64_t time_ns;
        size_t number; /* of the packet, in record_events() */
        uint32_t bytes;
        uint8_t direction;
};

/* CPU time of all processes of the app until a time. */
struct cpu_record {
        int64_t time_ns;
        int64_t cpu_ns;
};

/* How the app was slowed. */
enum cpu_means {
        CPU_MEANS_NONE,     /* it was not */
        CPU_MEANS_STOPS,    /* its processes were stopped for parts of the time */
        CPU_MEANS_QUOTA_V1, /* by the kernel, in control groups of that version */
        CPU_MEANS_QUOTA_V2,
        CPU_MEANS
};

/* As files and JSON have it. */
extern const char *const record_means[CPU_MEANS];

#define RECORD_TASK_MAX 16
#define RECORD_NAME_MAX 64

/* CPU time of a process since its record before. */
struct task_record {
        int64_t time_ns, cpu_ns;
        int32_t pid;                /* in the app's namespace */
        char name[RECORD_TASK_MAX]; /* as the kernel has it; the app chooses it */
};

/* A name that DNS gave an address. */
struct name_record {
        uint32_t address;           /* in host order */
        char name[RECORD_NAME_MAX];
};

/* What the screen showed from a time on. */
struct frame_record {
        int64_t time_ns;
        double light[3];        /* red, green and blue: mean over the screen, linear, 1: all of it at full */
        uint32_t colours[4096]; /* pixels that were looked at, by the upper 4 bits of red, green and blue */
};

/*
 * When the radio of the device has to do with a packet: sent ones when they are on the air, also if they are lost then;
 * received ones when they arrive; and whatever wakes it when it came. False: never.
 */
bool record_event(const struct packet_record *record, struct radio_event *ret);
/* All of them by time, to free(). 0; -ENOMEM. */
int record_events(const struct packet_record *records, size_t n, struct radio_event **ret, size_t *ret_n);
