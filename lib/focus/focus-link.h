/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The link from the joulecast-focus of each graphical session to the service: a SOCK_SEQPACKET socket, one
 * struct per message. Messages are not trusted: their contents are checked here, and the kernel identifies
 * the sender.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/log.h"

#define FOCUS_MAGIC UINT32_C(0x4a434631) /* "1FCJ" in memory of a little-endian machine */
#define FOCUS_SOUND_MAGIC UINT32_C(0x4a435331) /* "1SCJ" */
#define FOCUS_SCREEN_MAGIC UINT32_C(0x4a435231) /* "1RCJ" */
#define FOCUS_VERSION 1
#define FOCUS_REFRESH_MIN 1000    /* mHz; a screen has no lower rate, and none above the maximum */
#define FOCUS_REFRESH_MAX 1000000
#define FOCUS_APP_MAX 128
#define FOCUS_PLAYERS_MAX 16

enum focus_have {
        FOCUS_KNOWN = 1 << 0, /* it is known which app has the foreground, or that none has */
        FOCUS_APP = 1 << 1,   /* an app has it: pid or app_id is set; otherwise no app has it */
        FOCUS_LOCKED = 1 << 2,
        FOCUS_TICK = 1 << 3,  /* this back-end gets no events: send it a tick at each poll */
};

/* Both ends are of one build on one machine, so byte order and layout are native. Never holds a window title. */
struct focus_message {
        uint32_t magic;
        uint16_t version;
        uint16_t size;
        uint32_t have;
        int32_t pid;           /* process of the window's client; 0: unknown */
        uint64_t start_time;   /* start of that process, as in /proc/PID/stat; 0 without a pid */
        uint64_t boottime_ns;  /* when this state began */
        char app_id[FOCUS_APP_MAX];
};

struct focus_player {
        int32_t pid;
        uint32_t zero;
        uint64_t start_time;
};

/* Processes of the sender's user that now play or record sound. */
struct focus_sound {
        uint32_t magic;
        uint16_t version;
        uint16_t size;
        uint32_t n;      /* number of players */
        uint32_t others; /* 1: an unknown process plays or records, too */
        struct focus_player players[FOCUS_PLAYERS_MAX];
};

/* The built-in screen of the sender's session. */
struct focus_screen {
        uint32_t magic;
        uint16_t version;
        uint16_t size;
        uint32_t refresh_mhz; /* 0: unknown */
        uint32_t zero;
};

/* Sent by the service at each poll to agents with FOCUS_TICK. */
struct focus_tick {
        uint32_t magic;
};

/**
 * focus_message_check() - is this a valid message?
 *
 * Return: 0; -EMSGSIZE: too short or too long; -EPROTO: another magic, version or size; -EBADMSG: unknown or
 * contradictory bits, an app_id that is not printable text, or a time in the future.
 */
int focus_message_check(const void *bytes, size_t length, uint64_t now_ns, struct focus_message *ret);

/*
 * The same for a struct focus_sound. -EBADMSG: a pid or a start time is missing, or there are bytes after the
 * last one.
 */
int focus_sound_check(const void *bytes, size_t length, struct focus_sound *ret);

/* The same for a struct focus_screen. -EBADMSG: no screen has such a rate. */
int focus_screen_check(const void *bytes, size_t length, struct focus_screen *ret);

/*
 * Is @pid a process of the sender (for root: of any user) with this start time? 0; -ESRCH: there is no such process;
 * -EPERM: it is another user's.
 */
int focus_pid_check(int root_fd, pid_t pid, uint64_t start_time, uid_t sender);

/* Rate limit (token bucket). The agent's settle time allows about seven changes a second. */
#define FOCUS_BURST 20
#define FOCUS_RATE_PER_S 20

struct focus_bucket {
        uint64_t last_ns;
        double tokens;
};

/* Returns whether one more is allowed. A bucket of zeroes is full. */
bool focus_bucket_take(struct focus_bucket *bucket, uint64_t now_ns);

struct focus_link;

struct focus_link_ops {
        /* Is this user's agent accepted? NULL: every user's agent is, and the newest wins. */
        bool (*may_speak)(void *data, uid_t uid);
        /* @message NULL: there is no agent or no valid state; the focus is unknown from @boottime_ns on. */
        void (*heard)(void *data, const struct focus_message *message, uint64_t boottime_ns);
        /*
         * Processes that play or record now, of all users whose agents report any, not only of the accepted
         * agent: music continues while another user's session is active. @others: number of unknown
         * processes. May be NULL.
         */
        void (*sound)(void *data, const pid_t *pids, size_t n, size_t others);
        /*
         * Refresh rate of the screen, as the accepted agent reports it, also if unchanged; 0: unknown. May be
         * NULL.
         */
        void (*refresh)(void *data, uint32_t mhz);
};

/* @path: replaced; mode 0666, as the kernel identifies the users. @now_ns everywhere: CLOCK_BOOTTIME. */
int focus_link_open(const char *path, int root_fd, const struct focus_link_ops *ops, void *data,
                    const struct log *log,
                    struct focus_link **ret);
void focus_link_close(struct focus_link *link);
int focus_link_fd(const struct focus_link *link); /* an epoll descriptor, readable when a call is needed */
void focus_link_dispatch(struct focus_link *link, uint64_t now_ns);
void focus_link_tick(struct focus_link *link); /* call at each poll */
void focus_link_recheck(struct focus_link *link, uint64_t now_ns); /* call when another session became active */
