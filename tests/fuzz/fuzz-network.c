/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "hold/nl80211.h"
#include "hold/remote-login.h"
#include "util/util.h"

/*
 * Network state that calibrate reads before it turns a radio off: routes, connections, sshd's variables, and
 * the associated WiFi station; all parsers read the same bytes.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct connection connection;
        struct nl80211_station station;
        unsigned interface;

        fuzz_assert(text);
        if (remote_login_parse_connection(text, &connection) == 0)
                fuzz_assert(connection.far.family && !route_address_is_loopback(&connection.far));
        if (remote_login_parse_ssh(text, &connection) == 0)
                fuzz_assert(connection.far.family);
        route_parse(data, size, &interface);
        if (nl80211_parse_station(data, size, &station) == 0)
                fuzz_assert(station.signal_dbm >= -128 && station.signal_dbm <= 127);
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                route_is_default_in(line, "wlan0");
                route_is_default_in6(line, "wlan0");
        }
        return 0;
}
