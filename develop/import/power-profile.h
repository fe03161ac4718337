/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Android's power_profile.xml: names with one current or several, as the file has them. */

#include <stdbool.h>
#include <stddef.h>

#include "util/log.h"

#define POWER_PROFILE_BYTES_MAX (1u << 20)
#define POWER_ITEMS_MAX 1024
#define POWER_VALUES_MAX 128
#define POWER_NAME_MAX 64
#define POWER_VALUE_MAX 1e8 /* kHz and bytes are below it, too */

struct power_item {
        char name[POWER_NAME_MAX];
        bool array;
        double *values; /* 0 to POWER_VALUE_MAX */
        size_t n;       /* an array may be empty */
};

struct power_profile {
        struct power_item *items;
        size_t n;
};

/*
 * 0, and power_profile_clear() it; -EINVAL after a sentence with the line; -ENOTSUP: this build has no XML
 * parser; -ENOMEM. A document type, and so every entity of its own, is refused. Elements that are neither
 * item nor array are left out.
 */
int power_profile_parse(const char *text, size_t length, const char *name, const struct log *log,
                        struct power_profile *ret);
void power_profile_clear(struct power_profile *profile);

/* The last of that name, or NULL. */
const struct power_item *power_profile_find(const struct power_profile *profile, const char *name);
/* Its single value; NaN: there is none. */
double power_profile_value(const struct power_profile *profile, const char *name);
