/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How strongly a WiFi interface hears its access point: by nl80211 (linux/nl80211.h), which needs no privileges, or by
 * /proc/net/wireless of kernels and drivers that are older.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wifi_signal {
        int fd;          /* of generic netlink; -1: opened when it is first asked */
        uint16_t family; /* the kernel's number for nl80211 */
        uint32_t sequence;
};

/*
 * Of the interface with this index, averaged by the driver if it does so. 0; -ENODATA: it is no client, or with no
 * access point, or its driver does not say; -ENOENT: there is no nl80211; another errno of the socket, which is then
 * opened anew.
 */
int wifi_signal_ask(struct wifi_signal *signal, uint32_t interface, int32_t *ret_dbm);
void wifi_signal_close(struct wifi_signal *signal);

/* The attributes of an answer to NL80211_CMD_GET_STATION. False: no signal is among them, or it is not below 0. */
bool wifi_signal_parse(const void *attributes, size_t length, int32_t *ret_dbm);
/* A line of /proc/net/wireless; false also where its level is in a unit of the driver's own. */
bool wifi_signal_parse_line(const char *line, const char *interface, int32_t *ret_dbm);
