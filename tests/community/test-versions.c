/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Versions of apps: of a flatpak by its description, else of the Debian package that is called alike. */

#include <fcntl.h>
#include <string.h>

#include "check.h"
#include "source/sample.h"
#include "tree.h"
#include "versions.h"

#define STATUS \
        "Package: angry-birds\nStatus: install ok installed\nVersion: 1:2.9+dfsg-3~deb12u1\n\nPackage: maps\n" \
        "Version: 43.4-1\n\n"
#define FLATPAK(app, file) "var/lib/flatpak/app/" app "/current/active/files/share/" file

static void write_tree(const char *dir, const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

static void check_releases(void)
{
        static const struct {
                const char *metainfo, *version;
        } cases[] = {
                { "<releases>\n<release date=\"2024-01-02\"\n version='4.2.1' type=\"stable\">", "4.2.1" },
                { "<releases><release version=\"3\"/><release version=\"2\"/>", "3" },
                { "<releases><release myversion=\"3\"/>", "" },
                { "<releases><release date=\"x\"></release></releases><a version=\"9\">", "" },
                { "<release version=\"1", "" },
                { "<release", "" },
                { "<release version=", "" },
                { "<release version=\"12345678901234567890123456789\"/>", "" },
                { "", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char version[VERSION_SIZE];

                versions_first_release(cases[i].metainfo, version);
                check_text(version, cases[i].version);
        }
}

static void check_apps(const char *dir)
{
        const char *const apps[] = { "angry-birds",     "org.gnome.Maps", "org.example.Player",
                                     "org.example.Old", "../../etc",      "unknown" };
        const char *const versions[] = { "2.9+dfsg", "43.4", "7.1", "0.9", "", "" };
        _cleanup_close_ int root_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char got[ARRAY_SIZE(apps)][VERSION_SIZE], package[APP_ID_MAX];

        check(root_fd >= 0);
        check_int(versions_of_apps(root_fd, apps, ARRAY_SIZE(apps), got), 0);
        for (size_t i = 0; i < ARRAY_SIZE(apps); i++)
                check_text(got[i], versions[i]);
        write_tree(dir, FLATPAK("org.gnome.Maps", "metainfo/org.gnome.Maps.metainfo.xml"),
                   "<release version=\"45.1\"/>");
        check_int(versions_of_apps(root_fd, apps, ARRAY_SIZE(apps), got), 0);
        check_text(got[1], "45.1");
        check_int(versions_source_of(root_fd, "org.gnome.Maps", package), VERSION_FLATPAK);
        check_int(versions_source_of(root_fd, "angry-birds", package), VERSION_PACKAGE);
        check_text(package, "angry-birds");
        check_int(versions_source_of(root_fd, "../../etc", package), VERSION_UNKNOWN);
        check_int(versions_of_apps(-1, apps, ARRAY_SIZE(apps), got), 0);
        check_text(got[0], "");
}

int main(void)
{
        char dir[64] = "/tmp/joulecast-tree-XXXXXX";

        check_releases();
        check(mkdtemp(dir) != NULL);
        write_tree(dir, "var/lib/dpkg/status", STATUS);
        write_tree(dir, FLATPAK("org.example.Player", "metainfo/org.example.Player.appdata.xml"),
                   "<release version=\"7.1\"/>");
        write_tree(dir, FLATPAK("org.example.Old", "appdata/org.example.Old.appdata.xml"),
                   "<release version=\"0.9\"/>");
        check_apps(dir);
        tree_remove(dir);
        return check_result();
}
