/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The first day: a device without a calibration is priced by the profile that ships for it, else by that of its class
 * (model/profile-class.h), wide, until it learns its own.
 */

#include <stddef.h>

#include "model/profile.h"
#include "util/log.h"

/**
 * first_day_profile() - the power model of a device that has none of its own
 * @device: NULL: this machine; or "virtual:NAME" or "virtual:FILE", which no shipped profile is for
 * @root:   NULL: /; or a folder with the sys of a recorded machine
 * @why:    gets what decided, in words; may be NULL
 * @ret:    free it with profile_free()
 *
 * Return: 0; -ENOENT: it shows no battery, or the files that come with joulecast are missing; another
 * negative errno. The log
 * gets the sentence.
 */
int first_day_profile(const char *device, const char *root, const struct log *log, char *why, size_t size,
                      struct profile **ret);

/* As first_day_profile(), but only by the class of the device, even if a profile ships for it. */
int first_day_class(const char *device, const char *root, const struct log *log, struct profile **ret);

/* If @profile is the file of a class, replaces it by the machine's profile made from it. 0; a negative errno. */
int first_day_adapt(const char *device, const char *root, const struct log *log, struct profile **profile);
