/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libnl: WiFi cannot be driven. */

#include <errno.h>

#include "nl80211.h"

int nl80211_open(struct nl80211 **ret) { return -ENOSYS; }
void nl80211_close(struct nl80211 *nl) {}
int nl80211_is_client(struct nl80211 *nl, const char *interface) { return -ENOSYS; }
int nl80211_station(struct nl80211 *nl, const char *name, struct nl80211_station *ret) { return -ENOSYS; }
int nl80211_parse_station(const void *list, size_t length, struct nl80211_station *ret) { return -ENOSYS; }
int nl80211_power_save(struct nl80211 *nl, const char *interface, bool *ret) { return -ENOSYS; }
int nl80211_set_power_save(struct nl80211 *nl, const char *interface, bool on) { return -ENOSYS; }
