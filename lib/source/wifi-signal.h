/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Signal strength of the access point at a WiFi interface: by nl80211 (linux/nl80211.h), which needs no
 * privileges, or by /proc/net/wireless of older kernels and drivers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wifi_signal {
        int fd;          /* generic netlink socket; -1: not open yet, opened by the first query */
        uint16_t family; /* the kernel's number for nl80211 */
        uint32_t sequence;
};

/*
 * The signal of the interface with this index, averaged if the driver does so. 0; -ENODATA: the interface is no
 * client, or has no access point, or its driver does not report a signal; -ENOENT: there is no nl80211; another errno
 * of the socket, which is then opened anew.
 */
int wifi_signal_ask(struct wifi_signal *signal, uint32_t interface, int32_t *ret_dbm);
void wifi_signal_close(struct wifi_signal *signal);

/* The attributes of an answer to NL80211_CMD_GET_STATION. False: no signal is among them, or it is not below 0. */
bool wifi_signal_parse(const void *attributes, size_t length, int32_t *ret_dbm);
/* Parses a line of /proc/net/wireless; false also if its level is in a driver-specific unit. */
bool wifi_signal_parse_line(const char *line, const char *interface, int32_t *ret_dbm);
