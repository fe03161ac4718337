/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/* The modem's interface, one with an address if there are several. -ENODEV: there is none. */
int cellular_find(int root_fd, char *interface, size_t size);

/* -ENODEV: the user did not ask for it. Without a modem this is an error, which is logged. */
int cellular_open(int root_fd, const struct machine_hardware *machine, struct part **ret);
