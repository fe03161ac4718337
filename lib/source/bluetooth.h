/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "source.h"

/*
 * Whether an adapter has a connection: the kernel shows one as hciN:HANDLE beside its adapter hciN. The app that uses
 * it is not known, as the connection belongs to bluetoothd. -ENODEV: the kernel has no Bluetooth.
 */
int bluetooth_open(int root_fd, struct source **ret);
