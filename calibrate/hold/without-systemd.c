/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd: brightness needs root, and input devices alone show the user. */

#include <errno.h>

#include "logind.h"
#include "sessions.h"

int logind_set_brightness(const char *backlight, uint32_t brightness) { return -ENOSYS; }
int logind_inhibit(const char *why) { return -ENOSYS; }
int sessions_open(const struct log *log, struct sessions **ret) { return -ENOSYS; }
void sessions_close(struct sessions *sessions) {}
int sessions_fd(const struct sessions *sessions) { return -1; }
unsigned sessions_hear(struct sessions *sessions) { return 0; }
