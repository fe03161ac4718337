/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "settings-list.h"

extern const struct setting_medium power_save_medium;

/* The setting's name. */
int power_save_name(const char *interface, char *buf, size_t size);
