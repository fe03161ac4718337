/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where this was built without libexpat. */

#include <errno.h>
#include <math.h>

#include "power-profile.h"

int power_profile_parse(const char *text, size_t length, const char *name, const struct log *log,
                        struct power_profile *ret)
{
        log_error(log, "%s cannot be read: this joulecast was built without libexpat, which reads XML", name);
        return -ENOTSUP;
}

void power_profile_clear(struct power_profile *profile)
{
}

const struct power_item *power_profile_find(const struct power_profile *profile, const char *name)
{
        return NULL;
}

double power_profile_value(const struct power_profile *profile, const char *name)
{
        return NAN;
}
