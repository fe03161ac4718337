/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/* Is a mains or USB supply of the machine online, whatever the battery's status? */
bool supply_online(int root_fd);
