/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Records of a run: packets, CPU time, names and pictures of the screen. All times are in ns since it began. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "radio/radio-run.h"

enum packet_verdict {
        PACKET_DELIVERED,
        PACKET_LOST,    /* over the air */
        PACKET_DROPPED, /* the queue was full: it was never sent */
        PACKET_WAITING, /* it still waited when the app ended */
};

/* A packet of the app, as it is stored in the file. */
struct packet_record {
        int64_t in_ns;    /* when it came to the link */
        int64_t start_ns; /* when its first bit went over the link */
        int64_t link_ns;  /* when its last bit went over the link */
        int64_t due_ns;   /* when it should have been delivered */
        int64_t out_ns;   /* when it was delivered, by the clock; 0: never */
        int64_t host_ns;  /* its delay in this machine's own network, subtracted from the emulated one; 0: not known */
        int64_t left_ns;  /* by how much host_ns is longer than the emulated network's mean delay; else 0 */
        uint32_t bytes;
        uint8_t direction; /* enum radio_direction */
        uint8_t verdict;
        uint8_t woke;      /* it came while the radio slept, and waited until the radio was awake */
        uint8_t queued;    /* the link was busy when it came */
        uint8_t protocol;  /* IP protocol number */
        uint16_t port;     /* the peer's port; 0: there is none */
        uint32_t peer;     /* the peer's address, in host order */
};

#define RECORD_HEAD_MAX 128

/* The first bytes of a packet, with the addresses that it has on the link. */
struct packet_head {
        uint8_t bytes[RECORD_HEAD_MAX];
};

/* A packet that the radio sends, receives, or is woken by. */
struct radio_event {
        int64_t time_ns;
        size_t number; /* index of the packet in the array given to record_events() */
        uint32_t bytes;
        uint8_t direction;
};

/* CPU time of all processes of the app from its start until a time. */
struct cpu_record {
        int64_t time_ns;
        int64_t cpu_ns;
};

/* How the app was slowed. */
enum cpu_means {
        CPU_MEANS_NONE,     /* it was not slowed */
        CPU_MEANS_STOPS,    /* its processes were stopped for parts of the time */
        CPU_MEANS_QUOTA_V1, /* by quotas of the kernel, in control groups of version 1 */
        CPU_MEANS_QUOTA_V2,
        CPU_MEANS
};

/* Names of enum cpu_means in files and JSON. */
extern const char *const record_means[CPU_MEANS];

#define RECORD_TASK_MAX 16
#define RECORD_NAME_MAX 64

/* CPU time of a process since its last record. */
struct task_record {
        int64_t time_ns, cpu_ns;
        int32_t pid;                /* in the app's namespace */
        char name[RECORD_TASK_MAX]; /* the kernel's name (comm), which the app may set to anything */
};

/* An address, and its name by DNS. */
struct name_record {
        uint32_t address;           /* in host order */
        char name[RECORD_NAME_MAX];
};

/* The picture that the screen showed from a time on. */
struct frame_record {
        int64_t time_ns;
        double light[3];        /* red, green and blue: mean over the screen, linear, 1: all of it at full */
        uint32_t colours[4096]; /* pixels that were looked at, by the upper 4 bits of red, green and blue */
};

/*
 * When the device's radio handles a packet: a sent one when it is on the air, even if it is lost there; a received one
 * when it arrives; and one that wakes the radio when it comes to the link. False: the radio never handles it.
 */
bool record_event(const struct packet_record *record, struct radio_event *ret);
/* All such events, ordered by time, to free(). 0; -ENOMEM. */
int record_events(const struct packet_record *records, size_t n, struct radio_event **ret, size_t *ret_n);
