/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inputs of the WiFi part: rfkill switches, routes,
 * connections, and the kernel's replies about stations.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>

#include "check.h"
#include "hold/attribute.h"
#include "hold/interface.h"
#include "hold/nl80211.h"
#include "hold/power-save.h"
#include "hold/remote-login.h"
#include "hold/rfkill.h"
#include "tree.h"

static void make_link(const char *tree, const char *name, const char *target)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", tree, name);
        check_int(util_make_parent(path, 0755), 0);
        check_int(symlink(target, path), 0);
}

/*
 * Two radios, a keyboard's switch that blocks WiFi as a whole,
 * and Bluetooth: only the radio's own will do.
 */
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

/* Has @interface a default route by these tables? NULL: there is no such file. */
static bool is_default_by(const char *four, const char *six, const char *interface)
{
        char dir[] = "/tmp/joulecast-wifi-XXXXXX";
        bool is_default;
        int fd;

        check(mkdtemp(dir) != NULL);
        check(!four || tree_write(dir, "proc/net/route", four, strlen(four)));
        check(!six || tree_write(dir, "proc/net/ipv6_route", six, strlen(six)));
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        is_default = route_is_default(fd, interface);
        closep(&fd);
        tree_remove(dir);
        return is_default;
}

#define HEAD "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
#define OWN "wlan0\t0000A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n"
#define DEFAULT "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"

static void finds_the_default_routes(void)
{
        static const struct {
                const char *lines;
                bool wlan, eth;
        } cases[] = {
                { HEAD, false, false },
                { HEAD OWN, false, false },
                { HEAD DEFAULT, true, false },
                { HEAD DEFAULT "eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", true, true },
                { HEAD "wlan0\t00000000\t0100A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", false, false }, /* down */
                { HEAD "wlan0\t00000000\nnonsense\n\n\xff\xff\n", false, false },
                { NULL, true, true }, /* cannot be read: it may be */
        };
        static const char six[] =
                "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 "
                "00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n"
                "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
                "fe80000000000000000000000000fffe 00000258 00000001 00000000 00450003    wlan0\n"
                "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
                "00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n";

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(is_default_by(cases[i].lines, NULL, "wlan0"), cases[i].wlan);
                check_int(is_default_by(cases[i].lines, NULL, "eth0"), cases[i].eth);
        }
        check(is_default_by(HEAD, six, "wlan0") && !is_default_by(HEAD, six, "eth0") &&
              !is_default_by(HEAD, six, "lo"));
}

/* With thousands of networks of containers, or all of the Internet's. */
static void finds_the_default_route_at_the_end(void)
{
        const size_t n = 10000;
        _cleanup_free_ char *text = malloc(sizeof(HEAD) + n * strlen(OWN) + sizeof(DEFAULT));
        char *at = text;

        check(text != NULL);
        at = stpcpy(at, HEAD);
        for (size_t i = 0; i < n; i++)
                at = stpcpy(at, OWN);
        check(!is_default_by(text, NULL, "wlan0"));
        stpcpy(at, DEFAULT);
        check(is_default_by(text, NULL, "wlan0"));
        check(!is_default_by(text, NULL, "eth0"));
}

static const char *text_of(const struct address *address, char buf[64])
{
        return address->family ? inet_ntop(address->family, address->bytes, buf, 64) : "";
}

/* Words as a little-endian machine prints them; on the others these lines would read otherwise. */
static void knows_connections_from_elsewhere(void)
{
        static const struct {
                const char *line, *far; /* "": none */
                unsigned port;
                unsigned long inode;
        } cases[] = {
                { "  sl  local_address rem_address   st tx_queue", "", 0, 0 },
                { "   0: 0100A8C0:0016 0200A8C0:D2F0 01 00000000:00000000 02:000A", "192.168.0.2", 22, 0 },
                { "   0: 0100A8C0:08AE 0200A8C0:D2F0 01 00000000:00000000 02:000AF0A2 00000000     0        0 4711 2 0",
                  "192.168.0.2", 2222, 4711 },
                { "   1: 00000000:0016 00000000:0000 0A 00000000:00000000", "", 0, 0 }, /* waits for one */
                { "   2: 0100007F:0016 0100007F:D2F0 01 00000000:00000000", "", 0, 0 }, /* from here */
                { "   4: 0100A8C0:0016 0200A8C0:D2F0 06 00000000:00000000", "", 0, 0 }, /* over */
                { "   5: 0000000000000000FFFF00000100A8C0:0016 0000000000000000FFFF00000200A8C0:D2F0 01 0:0",
                  "192.168.0.2", 22, 0 },
                { "   6: 0000000000000000FFFF00000100007F:0016 0000000000000000FFFF00000100007F:D2F0 01 0:0",
                  "", 0, 0 },
                { "   7: 00000000000000000000000001000000:0016 00000000000000000000000001000000:D2F0 01 0:0",
                  "", 0, 0 },
                { "   8: B80D0120000000000000000001000000:0016 B80D0120000000000000000002000000:D2F0 01 0:0",
                  "2001:db8::2", 22, 0 },
                { "   9: 0100A8:0016 0200A8C0:D2F0 01 00000000:00000000", "", 0, 0 },
                { "", "", 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; i++) {
                struct connection connection;
                char buf[64];

                check_int(remote_login_parse_connection(cases[i].line, &connection), *cases[i].far ? 0 : -EINVAL);
                if (!*cases[i].far)
                        continue;
                check_text(text_of(&connection.far, buf), cases[i].far);
                check_int(connection.near_port, cases[i].port);
                check_int(connection.inode, cases[i].inode);
        }
}

/*
 * From a far end on the link, which goes over any interface;
 * at the end of a table such as a busy machine has.
 */
static void finds_it_among_thousands(void)
{
        static const char login[] = "9999: 000080FE000000000000000001000000:0016 "
                                    "000080FE000000000000000002000000:D2F0 01 0:0\n";
        static const char other[] = "   2: 000080FE000000000000000001000000:D2F0 "
                                    "000080FE000000000000000002000000:01BB 06 00000000:00000000 03:000010B4 "
                                    "00000000     0        0 0 3 0000000000000000        \n";
        char dir[] = "/tmp/joulecast-wifi-XXXXXX";
        _cleanup_free_ char *text = malloc(5000 * strlen(other) + sizeof(login));
        int fd;

        check(text && mkdtemp(dir));
        for (size_t i = 0; i < 5000; i++)
                memcpy(text + i * strlen(other), other, strlen(other));
        memcpy(text + 5000 * strlen(other), login, sizeof(login));
        check(tree_write(dir, "proc/net/tcp6", text, strlen(text)));
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check(remote_login_over(fd, "wlan0") || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
        closep(&fd);
        tree_remove(dir);
}

static void knows_what_sshd_says(void)
{
        static const struct {
                const char *text, *far, *near; /* "": none */
        } cases[] = {
                { "192.0.2.7 50000 192.0.2.1 22", "192.0.2.7", "192.0.2.1" },
                { "2001:db8::7 50000 2001:db8::1 2222", "2001:db8::7", "2001:db8::1" },
                { "::ffff:192.0.2.7 50000 ::ffff:192.0.2.1 22", "192.0.2.7", "192.0.2.1" },
                { "fe80::7%lo 50000 fe80::1%lo 22", "fe80::7", "fe80::1" },
                { "192.0.2.7 50000 nonsense 22", "192.0.2.7", "" },
                { "UNKNOWN 65535 192.0.2.1 22", "", "" },
                { "192.0.2.7", "", "" },
                { "", "", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct connection connection;
                char buf[64];

                check_int(remote_login_parse_ssh(cases[i].text, &connection), *cases[i].far ? 0 : -EINVAL);
                if (!*cases[i].far)
                        continue;
                check_text(text_of(&connection.far, buf), cases[i].far);
                check_text(text_of(&connection.near, buf), cases[i].near);
        }
}

/* The kernel's answer about a route: header, struct rtmsg, attributes. */
static void reads_routes(void)
{
        struct {
                struct nlmsghdr header;
                struct rtmsg route;
                struct rtattr other;
                uint32_t table;
                struct rtattr oif;
                uint32_t index;
        } answer = {
                .header = { .nlmsg_len = sizeof(answer), .nlmsg_type = RTM_NEWROUTE },
                .other = { RTA_LENGTH(4), RTA_TABLE }, .table = 254,
                .oif = { RTA_LENGTH(4), RTA_OIF }, .index = 3,
        };
        struct {
                struct nlmsghdr header;
                struct nlmsgerr error;
        } refusal = { { .nlmsg_len = sizeof(refusal), .nlmsg_type = NLMSG_ERROR },
                      { .error = -ENETUNREACH } };
        unsigned index = 0;

        check_int(route_parse(&answer, sizeof(answer), &index), 0);
        check_int(index, 3);
        check_int(route_parse(&refusal, sizeof(refusal), &index), -ENETUNREACH);
        for (size_t length = 0; length < sizeof(answer); length++) { /* no byte is read that is not there */
                unsigned char *cut = malloc(length + 1);

                memcpy(cut, &answer, length);
                check(route_parse(cut, length, &index) < 0);
                free(cut);
        }
        answer.other.rta_len = 3;
        check_int(route_parse(&answer, sizeof(answer), &index), -ENETUNREACH);
        answer.other.rta_len = 2000;
        check_int(route_parse(&answer, sizeof(answer), &index), -ENETUNREACH);
        answer.header.nlmsg_type = RTM_NEWLINK;
        check_int(route_parse(&answer, sizeof(answer), &index), -EBADMSG);
}

/* Its own, a bridge and a VLAN on that, a tunnel, another one. */
static void finds_what_an_interface_is_made_of(void)
{
        char tree[64] = "/tmp/joulecast-test-wifi-XXXXXX";
        int root_fd;

        check(mkdtemp(tree) != NULL);
        tree_write(tree, "sys/class/net/wlan0/type", "1\n", 2);
        tree_write(tree, "sys/class/net/wlan0/device/uevent", "", 0);
        tree_write(tree, "sys/class/net/wwan0/type", "519\n", 4); /* a modem: ARPHRD_RAWIP, with a device */
        tree_write(tree, "sys/class/net/wwan0/device/uevent", "", 0);
        tree_write(tree, "sys/class/net/br0/type", "1\n", 2);
        make_link(tree, "sys/class/net/br0/lower_wlan0", "../wlan0");
        tree_write(tree, "sys/class/net/br0.5/type", "1\n", 2);
        make_link(tree, "sys/class/net/br0.5/lower_br0", "../br0");
        tree_write(tree, "sys/class/net/wg0/type", "65534\n", 6);
        tree_write(tree, "sys/class/net/tap0/type", "1\n", 2);
        tree_write(tree, "sys/class/net/tap0/tun_flags", "0x1002\n", 7);
        tree_write(tree, "sys/class/net/lo/type", "772\n", 4);
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check(interface_carries(root_fd, "wlan0", "wlan0"));
        check(interface_carries(root_fd, "br0", "wlan0") && interface_carries(root_fd, "br0.5", "wlan0"));
        check(!interface_carries(root_fd, "br0", "wwan0") && !interface_carries(root_fd, "wwan0", "wlan0"));
        check(interface_carries(root_fd, "wg0", "wlan0") && interface_carries(root_fd, "tap0", "wlan0"));
        check(!interface_carries(root_fd, "lo", "wlan0") && !interface_carries(root_fd, "gone0", "wlan0"));
        close(root_fd);
        tree_remove(tree);
}

/*
 * Attributes as the kernel sends them: length, type, payload, padded to four bytes; on little-endian and big-endian
 * machines alike.
 */
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
        check(attribute_writable(attribute_find(name), "1") &&
              !attribute_writable(attribute_find(name), "2"));
        check(!attribute_find("nl80211:wlan0/txpower") && !attribute_find("nl80211:a/b/power_save"));
        check_int(power_save_medium.read(-1, "nl80211:nowhere0/power_save", value, sizeof(value)), -ENOENT);
        check_int(power_save_medium.write(-1, "nl80211:nowhere0/power_save", "1"), -ENOENT);
        check_int(power_save_medium.read(-1, "nl80211:/power_save", value, sizeof(value)), -EINVAL);
        check_int(power_save_medium.read(-1, "nl80211:x/txpower", value, sizeof(value)), -EINVAL);
}

/*
 * In a network namespace of its own, where no interface is up yet: interfaces that were down before are remembered as
 * down.
 */
static void knows_what_is_up(void)
{
        check(!interface_is_set_up("nowhere0") && interface_bring_up("nowhere0") < 0);
        if (unshare(CLONE_NEWNET) < 0)
                return; /* only root may */
        check(!interface_is_set_up("lo"));
        check_int(interface_bring_up("lo"), 0);
        check(interface_is_set_up("lo"));
        check_int(interface_bring_up("lo"), 0);
}

int main(void)
{
        finds_the_radio();
        finds_the_default_routes();
        finds_the_default_route_at_the_end();
        knows_connections_from_elsewhere();
        finds_it_among_thousands();
        knows_what_sshd_says();
        reads_routes();
        finds_what_an_interface_is_made_of();
        reads_stations();
        names_power_save();
        knows_what_is_up(); /* the last: it leaves this machine's network */
        return check_result();
}
