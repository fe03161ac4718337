/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Names of this device, its CPU, its panel and its radio: those of
 * types, and no serial numbers. */

#include "shared/card.h"

/*
 * @root_fd: of the machine; -1: @device is a virtual one, which only has its
 * name. A name that is unknown, or that card_is_name() refuses, is "".
 */
void identity_read(int root_fd, const char *device, struct card_names *ret);
