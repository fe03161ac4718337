/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The link between joulecast-focus, one in each graphical session, and the
 * service: a SOCK_SEQPACKET socket and one struct a message. What comes in is
 * hostile: it is checked here, and by what the kernel says of the sender.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/log.h"

#define FOCUS_MAGIC UINT32_C(0x4a434631) /* "1FCJ" in memory of a little-endian machine */
#define FOCUS_VERSION 1
#define FOCUS_APP_MAX 128

enum focus_have {
        FOCUS_KNOWN = 1 << 0, /* the session knows who has the foreground */
        FOCUS_APP = 1 << 1,   /* somebody has: pid or app_id; unset: nobody */
        FOCUS_LOCKED = 1 << 2,
        FOCUS_TICK = 1 << 3,  /* this back-end hears of no changes: ask it with a tick at each poll */
};

/*
 * Both ends are of one build on one machine:
 * native order, and the size says which. Never a window's title.
 */
struct focus_message {
        uint32_t magic;
        uint16_t version;
        uint16_t size;
        uint32_t have;
        int32_t pid;           /* of the window's client; 0: unknown */
        uint64_t start_time;   /* of that process, as in /proc/PID/stat; 0 without a pid */
        uint64_t boottime_ns;  /* since when */
        char app_id[FOCUS_APP_MAX];
};

/* The service's answer at a poll, to those that asked for it. */
struct focus_tick {
        uint32_t magic;
};

/**
 * focus_message_check() - may these bytes be believed, as far as they alone tell?
 *
 * Return: 0; -EMSGSIZE: too short or too long; -EPROTO: another magic, version or size; -EBADMSG: bits
 * unknown or at odds, an app_id that is not printable text, or a time that is still to come.
 */
int focus_message_check(const void *bytes, size_t length, uint64_t now_ns, struct focus_message *ret);

/*
 * Whether a message may speak of its pid: the process must be of the sender's uid (root may speak of all) and
 * have the start time. 0; -ESRCH: no such process (any more); -EPERM: another user's.
 */
int focus_pid_check(int root_fd, const struct focus_message *message, uid_t sender);

/*
 * So many messages at once, and so many a second;
 * two settled changes cannot be closer than the settle time.
 */
#define FOCUS_BURST 20
#define FOCUS_RATE_PER_S 20

struct focus_bucket {
        uint64_t last_ns;
        double tokens;
};

/* true: one more is allowed. A bucket of zeroes is a full one. */
bool focus_bucket_take(struct focus_bucket *bucket, uint64_t now_ns);

struct focus_link;

struct focus_link_ops {
        /* May this user say who has the screen? NULL: everybody may, the newest wins. */
        bool (*may_speak)(void *data, uid_t uid);
        /*
         * @message NULL: the agent is gone, or what it said cannot be believed:
         * unknown from @boottime_ns on.
         */
        void (*heard)(void *data, const struct focus_message *message, uint64_t boottime_ns);
};

/* @path: made anew, with mode 0666 (the kernel's credentials decide). @now_ns everywhere: CLOCK_BOOTTIME. */
int focus_link_open(const char *path, int root_fd, const struct focus_link_ops *ops, void *data,
                    const struct log *log,
                    struct focus_link **ret);
void focus_link_close(struct focus_link *link);
int focus_link_fd(const struct focus_link *link); /* an epoll descriptor: readable when there is something to do */
void focus_link_dispatch(struct focus_link *link, uint64_t now_ns);
void focus_link_tick(struct focus_link *link); /* at each poll */
void focus_link_recheck(struct focus_link *link, uint64_t now_ns); /* another session became the active one */
