/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* The setting's name. */
int power_save_name(const char *interface, char *buf, size_t size);
