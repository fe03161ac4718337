/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Commands that talk to the kernel's collectors, to a terminal or to the session's bus are those of joulecast-live, so
 * that the others start without the libraries for it. warn and advise need the bus for one option alone: joulecast
 * starts joulecast-live for it.
 */
struct live {
        int (*notify)(const char *summary, const char *body); /* as notify_user() */
        /* A power profile that may save energy, by D-Bus; NULL: none, or it is on. */
        const char *(*thrifty_profile)(void);
};

/* In joulecast both are NULL. */
extern const struct live live;

/* Replaces this process by joulecast-live; an exit code after its sentence. */
int live_become(const char *command, char **argv);
