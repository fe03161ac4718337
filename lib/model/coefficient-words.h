/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "profile.h"

#define COEFFICIENT_WORDS_MAX 256

/*
 * coefficient_words() - describe a coefficient for people: "CPU at 1.2 GHz, per core", "display at 40 %"
 * @buf: of COEFFICIENT_WORDS_MAX
 *
 * Its key in a file is profile_coefficient_key(). Return: @buf.
 */
char *coefficient_words(const struct profile *profile, const struct coefficient *coefficient, char *buf);
