/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A fit with the changes that it found: each is compared with other causes by how likely it makes the rows. */

#include "posterior.h"

/* Changes that are known before a fit. */
struct known_changes {
        struct design_change list[DESIGN_CHANGES_MAX];
        size_t n;
        double unequal; /* percents (percents.h); NaN: to be found */
};

/* A fit with its changes. */
struct fitted {
        struct design design;
        struct posterior posterior;
};

/* Fits, and once more with each change that it finds. 0; -ENODATA: no row; -EDOM; -ENOMEM. */
int fitted_make(const struct profile *prior, const struct everyday *list, size_t n, const struct known_changes *known,
                struct fitted *ret);
