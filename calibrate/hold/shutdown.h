/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Is the machine at @root_fd shutting down? systemd has then saved radios and brightness as we had set them,
 * and will restore that at boot. Also true if systemd is too busy to answer; false for a machine tree or
 * without systemd.
 */
bool shutdown_is_under_way(int root_fd);
