/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Is the machine at @root_fd on its way down? What systemd puts back at boot (radios, brightness) it has saved by
 * then, as we had made it. True also where systemd is too busy to tell; false: no, it is another machine's tree, or
 * there is no systemd.
 */
bool machine_shuts_down(int root_fd);
