/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A pool of others' profiles becomes what is known of this device before it
 * measured anything. */

#include "model/profile.h"
#include "shared/card.h"
#include "util/log.h"

/*
 * May the profile in use be replaced by a prior? No: it was calibrated or
 * learnt here. @why: the word for that.
 */
bool prior_may_replace(const struct profile *own, const char **why);

/**
 * prior_take() - puts the coefficients of a pool in the place of those of
 * @prior
 * @prior: the profile of this device's class, or what prior_take() made of it
 * @class: the bounds: the profile of this device's class
 * @pool:  hostile input
 * @part:  which coefficients of @pool count
 *
 * A coefficient counts if it is within three standard errors of the class's,
 * and is not less certain. Terms of which one is not, and of policies that this
 * device lacks, stay those of @prior, and so does the battery. Return: how many
 * terms were taken; a negative errno.
 */
int prior_take(struct profile **prior, const struct profile *class, const struct profile *pool,
               enum card_part part);
