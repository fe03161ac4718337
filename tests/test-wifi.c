/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the WiFi part reads: switches of radios, routes, connections, and the kernel's answers about stations. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "interface.h"
#include "nl80211.h"
#include "power-save.h"
#include "remote-login.h"
#include "rfkill.h"
#include "tree.h"

static void make_link(const char *tree, const char *name, const char *target)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", tree, name);
        check_int(util_make_parent(path, 0755), 0);
        check_int(symlink(target, path), 0);
}

/* Two radios, a keyboard's switch that blocks WiFi as a whole, and Bluetooth: only the radio's own will do. */
static void finds_the_radio(void)
{
        char tree[64] = "/tmp/joulecast-test-wifi-XXXXXX", setting[96] = "", small[8];
        uint64_t bytes = 0;
        int root_fd;

        check(mkdtemp(tree) != NULL);
        make_link(tree, "sys/class/net/wlan0/phy80211", "../../ieee80211/phy7");
        make_link(tree, "sys/class/net/wlan1/phy80211", "../../ieee80211/phy1");
        make_link(tree, "sys/class/net/wlan2/phy80211", "../../ieee80211/phy2");
        make_link(tree, "sys/class/rfkill/rfkill0/device", "../../../ideapad_acpi");
        make_link(tree, "sys/class/rfkill/rfkill1/device", "../../phy1");
        make_link(tree, "sys/class/rfkill/rfkill2/device", "../../hci7");
        make_link(tree, "sys/class/rfkill/rfkill13/device", "../../phy7");
        tree_write(tree, "sys/class/rfkill/rfkill13/hard", "0\n", 2);
        tree_write(tree, "sys/class/rfkill/rfkill1/hard", "1\n", 2);
        tree_write(tree, "sys/class/net/wlan0/statistics/rx_bytes", "1000\n", 5);
        tree_write(tree, "sys/class/net/wlan0/statistics/tx_bytes", "234\n", 4);
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(rfkill_find(root_fd, "wlan0", setting, sizeof(setting)), 0);
        check_text(setting, "/sys/class/rfkill/rfkill13/soft");
        check(!rfkill_hard_blocked(root_fd, setting));
        check_int(rfkill_find(root_fd, "wlan1", setting, sizeof(setting)), 0);
        check_text(setting, "/sys/class/rfkill/rfkill1/soft");
        check(rfkill_hard_blocked(root_fd, setting));
        check_int(rfkill_find(root_fd, "wlan2", setting, sizeof(setting)), -ENODEV);
        check_int(rfkill_find(root_fd, "eth0", setting, sizeof(setting)), -ENODEV);
        check_int(rfkill_find(root_fd, "wlan0", small, sizeof(small)), -ENAMETOOLONG);
        check_int(interface_bytes(root_fd, "wlan0", &bytes), 0);
        check_int(bytes, 1234);
        check(interface_bytes(root_fd, "wlan1", &bytes) < 0);
        close(root_fd);
        tree_remove(tree);
}

static void finds_the_default_route(void)
{
        static const char head[] = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
        static const struct {
                const char *lines;
                int err;
                const char *want;
        } cases[] = {
                { "", -ENOENT, "" },
                { "wlan0\t0000A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n", -ENOENT, "" }, /* its own network */
                { "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n", 0, "wlan0" },
                { "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                  "eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", 0, "eth0" },
                { "eth0\t00000000\t0100A8C0\t0003\t0\t0\t1000\t00000000\t0\t0\t0\n"
                  "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n", 0, "wlan0" },
                { "wlan0\t00000000\t0100A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", -ENOENT, "" }, /* down */
                { "wlan0\t00000000\nnonsense\n\n\xff\xff\n", -ENOENT, "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char text[1024], interface[32] = "";

                snprintf(text, sizeof(text), "%s%s", head, cases[i].lines);
                check_int(default_route_parse(text, interface, sizeof(interface)), cases[i].err);
                check_text(interface, cases[i].want);
        }
}

static void knows_connections_from_elsewhere(void)
{
        static const struct {
                const char *line;
                bool want;
        } cases[] = {
                { "  sl  local_address rem_address   st tx_queue", false },
                { "   0: 0100A8C0:0016 0200A8C0:D2F0 01 00000000:00000000 02:000A", true },
                { "   1: 00000000:0016 00000000:0000 0A 00000000:00000000", false }, /* waits for one */
                { "   2: 0100007F:0016 0100007F:D2F0 01 00000000:00000000", false }, /* from here */
                { "   3: 0100A8C0:D2F0 0200A8C0:0016 01 00000000:00000000", false }, /* to elsewhere */
                { "   4: 0100A8C0:0016 0200A8C0:D2F0 06 00000000:00000000", false }, /* over */
                { "   5: 0000000000000000FFFF00000100A8C0:0016 0000000000000000FFFF00000200A8C0:D2F0 01 0:0", true },
                { "   6: 0000000000000000FFFF00000100007F:0016 0000000000000000FFFF00000100007F:D2F0 01 0:0", false },
                { "   7: 00000000000000000000000001000000:0016 00000000000000000000000001000000:D2F0 01 0:0", false },
                { "   8: B80D0120000000000000000001000000:0016 B80D0120000000000000000002000000:D2F0 01 0:0", true },
                { "", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_int(is_login_connection(cases[i].line), cases[i].want);
}

/* As the kernel sends them: length, type, payload, padded to four bytes. Little-endian and big-endian machines alike. */
struct attribute_text {
        unsigned char bytes[64];
        size_t length;
};

static void put(struct attribute_text *text, uint16_t type, const void *payload, uint16_t size)
{
        uint16_t length = (uint16_t)(4 + size);

        memcpy(text->bytes + text->length, &length, 2);
        memcpy(text->bytes + text->length + 2, &type, 2);
        memcpy(text->bytes + text->length + 4, payload, size);
        text->length += (size_t)(length + 3) / 4 * 4;
}

/* linux/nl80211.h */
#define STA_INFO_SIGNAL 7
#define STA_INFO_STA_FLAGS 17
#define AUTHORIZED (1u << 1)
#define ASSOCIATED (1u << 7)

static void reads_stations(void)
{
        const uint32_t both[2] = { AUTHORIZED | ASSOCIATED, AUTHORIZED | ASSOCIATED };
        const uint32_t not_yet[2] = { AUTHORIZED | ASSOCIATED, ASSOCIATED };
        const int8_t signal = -67;
        struct attribute_text text = { .length = 0 };
        struct nl80211_station station;

        if (nl80211_parse_station(text.bytes, 0, &station) == -ENOSYS)
                return; /* built without libnl */
        check(station.associated && station.signal_dbm == 0);
        put(&text, STA_INFO_SIGNAL, &signal, 1);
        put(&text, STA_INFO_STA_FLAGS, both, sizeof(both));
        check_int(nl80211_parse_station(text.bytes, text.length, &station), 0);
        check(station.associated);
        check_int(station.signal_dbm, -67);
        text.length = 0;
        put(&text, STA_INFO_STA_FLAGS, not_yet, sizeof(not_yet));
        check_int(nl80211_parse_station(text.bytes, text.length, &station), 0);
        check(!station.associated);
        /* Cut anywhere, or with lengths that lie, it reads no byte that is not there. */
        for (size_t length = 0; length < text.length; length++) {
                unsigned char *cut = malloc(length + 1);

                memcpy(cut, text.bytes, length);
                nl80211_parse_station(cut, length, &station);
                free(cut);
        }
        text.bytes[0] = 0xff;
        text.bytes[1] = 0xff;
        nl80211_parse_station(text.bytes, text.length, &station);
}

static void names_power_save(void)
{
        char name[64], small[8], value[64];

        check_int(power_save_name("wlan0", name, sizeof(name)), 0);
        check_text(name, "nl80211:wlan0/power_save");
        check_int(power_save_name("wlan0", small, sizeof(small)), -ENAMETOOLONG);
        check(attribute_find(name) != NULL);
        check(attribute_writable(attribute_find(name), "1") && !attribute_writable(attribute_find(name), "2"));
        check(!attribute_find("nl80211:wlan0/txpower") && !attribute_find("nl80211:a/b/power_save"));
        check_int(power_save_medium.read(-1, "nl80211:nowhere0/power_save", value, sizeof(value)), -ENOENT);
        check_int(power_save_medium.write(-1, "nl80211:nowhere0/power_save", "1"), -ENOENT);
        check_int(power_save_medium.read(-1, "nl80211:/power_save", value, sizeof(value)), -EINVAL);
        check_int(power_save_medium.read(-1, "nl80211:x/txpower", value, sizeof(value)), -EINVAL);
}

int main(void)
{
        finds_the_radio();
        finds_the_default_route();
        knows_connections_from_elsewhere();
        reads_stations();
        names_power_save();
        return check_result();
}
