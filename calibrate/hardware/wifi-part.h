/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* WiFi as a part: wifi-find.c finds the interface, wifi.c controls it. */

#include "hold/nl80211.h"
#include "link.h"
#include "wifi.h"

struct part_wifi {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        char interface[32];
        struct nl80211 *nl;
        char radio[96];            /* its rfkill setting; "": it has none, or must stay on */
        char power_save[64];       /* the setting; "" it has none */
        struct settings *settings;
        struct link link;          /* its traffic */
        bool allow_disconnect, has_url, has_peer, perhaps_metered;
        bool was_up;               /* the interface was up; one that was down is not brought up */
        bool radio_on;             /* as the mode asks */
        bool said_lost, said_away, said_login;
};

/*
 * Finds the interface and its radio, and opens the load if there is a source or peer. -ENODEV: no interface.
 */
int wifi_find(struct part_wifi *wifi, const struct machine_hardware *machine);
