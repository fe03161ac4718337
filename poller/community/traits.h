/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What of a device may explain that an app costs more on it: classes and versions that many devices share. */

#include <stddef.h>

#include "model/profile.h"

struct traits {                  /* "": unknown */
        char os[48], model[96];
        char kernel[24];           /* "6.1.0" */
        char mesa[24];
        char firmware[48];
        char wear[16];             /* what is left of the battery's capacity: "80-90" percent */
        char power_model[16];      /* as profile_basis(): whose numbers own_mj is by */
};

/* @root_fd: of the machine; -1: a virtual device, which only has its name. */
void traits_read(int root_fd, const struct profile *profile, struct traits *ret);

/* What of a text is plain ASCII without quotes, and without blanks at its ends. Returns @buf. */
char *traits_plain(const char *text, char *buf, size_t size);
