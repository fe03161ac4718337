/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Features of a device that may explain a higher cost of an app: classes and versions that many devices
 * share.
 */

#include <stddef.h>

#include "model/profile.h"

struct traits {                  /* "": unknown */
        char os[48], model[96];
        char kernel[24];           /* "6.1.0" */
        char mesa[24];
        char firmware[48];
        char wear[16];             /* capacity left of the battery: "80-90" percent */
        char power_model[16];      /* as profile_basis(): origin of the model behind own_mj */
};

/* @root_fd: root folder of the machine; -1: a virtual device, which only has its name. */
void traits_read(int root_fd, const struct profile *profile, struct traits *ret);

/* Vendor and product by the firmware; "": unknown. */
void traits_read_model(int root_fd, char *buf, size_t size);

/* Copies the plain ASCII part of a text, without quotes and without blanks at its ends. Returns @buf. */
char *traits_plain(const char *text, char *buf, size_t size);
