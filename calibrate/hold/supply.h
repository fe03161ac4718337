/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether power comes in from outside, whatever the battery says of itself. */

#include <stdbool.h>

/* A mains or USB supply of the machine is online. */
bool supply_online(int root_fd);
