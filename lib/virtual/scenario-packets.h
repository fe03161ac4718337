/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "util/ini-text.h"
#include "virtual.h"

/*
 * Parses packets_per_s, packet_bytes, pattern, burst_packets, radio, gps, audio or camera. Returns 0; -EINVAL
 * after ini_error().
 */
int scenario_parse_packets(const struct ini_place *place, const char *key, const char *value,
                           struct virtual_work *work);
