/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The shipped profile that a machine gets by its firmware's names, in trees of a laptop, a phone and a hostile one. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "model/profile-match.h"
#include "model/profile.h"
#include "tree.h"

static int new_tree(char *dir, size_t size)
{
        snprintf(dir, size, "/tmp/joulecast-match-XXXXXX");
        return mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool put(const char *dir, const char *path, const char *text)
{
        return tree_write(dir, path, text, strlen(text));
}

static void laptop(void)
{
        struct profile profile = { 0 };
        char dir[64];
        int root_fd = new_tree(dir, sizeof(dir));

        check(put(dir, "sys/class/dmi/id/sys_vendor", "LENOVO\n"));
        check(put(dir, "sys/class/dmi/id/product_name", "20QD\n"));
        check(put(dir, "sys/class/dmi/id/product_version", "ThinkPad X1 Carbon 7th\n"));
        check(profile_match("dmi:*ThinkPad X1 Carbon 7th", root_fd));
        check(profile_match("DMI:lenovo 20qd *", root_fd));
        check(!profile_match("dt:*", root_fd));
        check(!profile_match("dmi:ThinkPad*", root_fd));
        check(!profile_match("", root_fd));
        profile.match = (char *)"dmi:*ThinkPad*";
        check(!profile_is_of_another(&profile, dir));
        profile.match = (char *)"dt:*flo*";
        check(profile_is_of_another(&profile, dir));
        check(!profile_is_of_another(&profile, "/no/such/folder"));
        profile.match = (char *)"dt:*flo* | dmi:*ThinkPad* |";
        check(!profile_is_of_another(&profile, dir));
        profile.match = (char *)"dt:*flo*|dmi:*Latitude*";
        check(profile_is_of_another(&profile, dir));
        profile.match = NULL; /* a calibration's own */
        check(!profile_is_of_another(&profile, dir));
        close(root_fd);
        tree_remove(dir);
}

static void phone(const char *profiles)
{
        static const char compatible[] = "asus,flo\0qcom,apq8064";
        char dir[64];
        int root_fd = new_tree(dir, sizeof(dir));
        _cleanup_free_ char *name = NULL, *none = NULL;

        /* A machine without firmware names. */
        check_int(profile_match_shipped(profiles, root_fd, false, &none), -ENOENT);
        check(tree_write(dir, "sys/firmware/devicetree/base/compatible", compatible, sizeof(compatible)));
        check(profile_match("dt:qcom,*", root_fd));
        check_int(profile_match_shipped(profiles, root_fd, false, &name), 0);
        check_text(name ? name : "", "nexus-7-sapp");
        check_int(profile_match_shipped(profiles, root_fd, true, &none), -ENOENT);
        check_int(profile_match_shipped("/no/such/folder", root_fd, false, &none), -ENOENT);
        check(!none);
        close(root_fd);
        tree_remove(dir);
}

/* Longer than any name, and without an end. */
static void hostile(void)
{
        char dir[64], text[4000];
        int root_fd = new_tree(dir, sizeof(dir));

        memset(text, 'x', sizeof(text));
        check(tree_write(dir, "sys/firmware/devicetree/base/model", text, sizeof(text)));
        check(tree_write(dir, "sys/class/dmi/id/product_name", text, sizeof(text)));
        check(!profile_match("*:x*", root_fd));
        close(root_fd);
        tree_remove(dir);
}

int main(int argc, char **argv)
{
        if (argc != 2) {
                fprintf(stderr, "usage: test-profile-match FOLDER-OF-PROFILES\n");
                return 2;
        }
        laptop();
        phone(argv[1]);
        hostile();
        return check_result();
}
