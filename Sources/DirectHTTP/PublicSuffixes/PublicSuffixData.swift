// Made by scripts/public-suffixes; not to be edited.
// swift-format-ignore-file

extension PublicSuffix {
    /// The Public Suffix List (publicsuffix.org), under the terms of the Mozilla Public License 2.0:
    /// 9506 rules, version Debian 20230209.2326-1.
    static let rules: StaticString = """
aaaA aarpA abarthA abbA abbottA abbvieA abcA ableA abogadoA abudhabiA acQ0=D=0013 academyQ0=E@000: accentureA
accountantA accountantsA acoA actorA adQ0=EJ0005 adsA adultA aeQ0=EO001; aegA aeroQ0=G:00LG aetnaA
afQ0>D1000I aflA africaA agQ0>DJ000H agakhanA agencyA aiQ0>EB000I aigA airbusA airforceA airtelA akdnA
alQ0>F;0018 alfaromeoA alibabaA alipayA allfinanzA allstateA allyA alsaceA alstomA amQ0>GC001I amazonA
americanexpressA americanfamilyA amexA amfamA amicaA amsterdamA analyticsA androidA anquanA anzA aoQ0>I<000H
aolA apartmentsA appQ0>J4008J appleA aqA aquarelleA arQ0?2N002H arabA aramcoA archiA armyA arpaQ0?5F0014 artA
arteA asQ0?6J0005 asdaA asiaQ0?6O0009 associatesA atQ0?78005O athletaA attorneyA auQ0?=7003? auctionA audiA
audibleA audioA auspostA authorA autoA autosA aviancaA awQ0?@F0005 awsA axQ0?@K0011 axaA azQ0?AL001M azureA
baQ0?CI001< babyA baiduA banamexA bananarepublicA bandA bankA barA barcelonaA barclaycardA barclaysA
barefootA bargainsA baseballA basketballQ0?E50009 bauhausA bayernA bbQ0?E>001C bbcA bbtA bbvaA bcgA bcnA bdD
beQ0?G1003< beatsA beautyA beerA bentleyA berlinA bestA bestbuyA betA bfQ0?J=0005 bgQ0?JB003M bhQ0?N?000I
bhartiA biQ0?O8000G bibleA bidA bikeA bingA bingoA bioA bizQ0?OO0041 bjQ0@40004F blackA blackfridayA
blockbusterA blogA bloombergA blueA bmQ0@8F000I bmsA bmwA bnQ0@9?000M bnpparibasA boQ0@:<00:H boatsA
boehringerA bofaA bomA bondA booA bookA bookingA boschA bostikA bostonA botA boutiqueA boxA brQ0@E400KO
bradescoA bridgestoneA broadwayA brokerA brotherA brusselsA bsQ0AA3000M btQ0AB0000I buildA buildersQ0ABI000;
businessQ0AC40004 buyA buzzA bvA bwQ0AC80009 byQ0ACA001? bzQ0AE00012 bzhA caQ0AF2003= cabA cafeA calA callA
calvinkleinA camA cameraA campA canonA capetownA capitalA capitaloneA carA caravanA cardsA careA careerA
careersA carsA casaQ0AI?000> caseA cashA casinoA catA cateringA catholicA cbaA cbnA cbreA cbsA ccQ0AIM0031
cdQ0ALN0005 centerA ceoA cernA cfQ0AM3000: cfaA cfdA cgA chQ0AM=004: chanelA channelA charityA chaseA chatA
cheapA chintaiA christmasA chromeA churchA ciQ0B1G002O ciprianiA circleA ciscoA citadelA citiA citicA cityA
cityeatsA ckT0B4F0005 clQ0B4K000M claimsA cleaningA clickA clinicA cliniqueA clothingA cloudQ0B5H00:C
clubQ0B@;000F clubmedA cmQ0BA1000C cnQ0BAD0086 coQ0BIJ005> coachA codesQ0BO80005 coffeeA collegeA cologneA
comQ0BO=04JJ comcastA commbankA communityQ0GJ7000G companyA compareA computerA comsecA condosA constructionA
consultingA contactA contractorsA cookingA cookingchannelA coolQ0GJN000? coopA corsicaA countryA couponA
couponsA coursesA cpaA crQ0GK=000L creditA creditcardA creditunionA cricketA crownA crsA cruiseA cruisesA
cuQ0GL9000N cuisinellaA cvQ0GM70014 cwQ0GN;000D cxQ0GNO000@ cyQ0GO?0028 cymruA cyouA czQ0H1G001L daburA dadA
danceA dataA dateA datingA datsunA dayA dclkA ddsA deQ0H3C00JO dealA dealerA dealsA degreeA deliveryA dellA
deloitteA deltaA democratA dentalA dentistA desiA designQ0HNB0005 devQ0HNG006D dhlA diamondsA dietA
digitalQ0I5;000C directA directoryA discountA discoverA dishA diyA djA dkQ0I5N0022 dmQ0I80000I dnpA
doQ0I8I001B docsA doctorA dogA domainsA dotA downloadA driveA dtvA dubaiA dunlopA dupontA durbanA dvagA dvrA
dzQ0I:;001B earthQ0I;M000? eatA ecQ0I<<002= ecoA edekaA eduQ0I>I000= educationQ0I?60004 eeQ0I?:001K
egQ0IA5001F emailA emerckA energyA engineerA engineeringA enterprisesA epsonA equipmentA erD ericssonA erniA
esQ0IBK001I esqA estateQ0IDD0009 etQ0IDM001: etisalatA euQ0IF7002O eurovisionA eusQ0II6000? eventsQ0IIE000<
exchangeA expertA exposedA expressA extraspaceA fageA failA fairwindsA faithQ0IJ10005 familyA fanA fansA
farmQ0IJ60007 farmersA fashionA fastA fedexA feedbackA ferrariA ferreroA fiQ0IJ=003H fiatA fidelityA fidoA
filmA finalA financeA financialQ0IN50004 fireA firestoneA firmdaleA fishA fishingA fitA fitnessA fjQ0IN9001C
fkD flickrA flightsA flirA floristA flowersA flyA fmQ0IOL0011 foA fooA foodA foodnetworkA footballA fordA
forexA forsaleA forumA foundationA foxA frQ0J0M00;3 freeA freseniusA frlA frogansA frontdoorA frontierA ftrA
fujitsuA funA fundA furnitureA futbolA fyiA gaA galA galleryA galloA gallupA gameA gamesA gapA gardenA gayA
gbA gbizA gdQ0J<0000: gdnQ0J<:0006 geQ0J<@0013 geaA gentA gentingA georgeA gfA ggQ0J=C0018 ggeeA ghQ0J>K000I
giQ0J?D000N giftA giftsA givesA givingA glQ0J@B0011 glassA gleA globalA globoA gmA gmailA gmbhA gmoA gmxA
gnQ0JAC000M godaddyA goldA goldpointA golfA gooA goodyearA googQ0JB@000O googleA gopA gotA govA gpQ0JC?0015
gqA grQ0JDD001? graingerA graphicsA gratisA greenA gripeA groceryA groupQ0JF3000; gsA gtQ0JF>001A guQ0JGO001:
guardianA gucciA gugeA guideA guitarsA guruA gwA gyQ0JI90011 hairA hamburgA hangoutA hausA hboA hdfcA
hdfcbankA healthQ0JJ:0005 healthcareA helpA helsinkiA hereA hermesA hgtvA hiphopA hisamitsuA hitachiA hivA
hkQ0JJ?007A hktA hmA hnQ0K200012 hockeyA holdingsA holidayA homedepotA homegoodsA homesA homesenseA hondaA
horseA hospitalA hostQ0K320033 hostingQ0K65000; hotA hotelesA hotelsA hotmailA houseA howA hrQ0K6@0015 hsbcA
htQ0K7E002O huQ0K:D006N hughesA hyattA hyundaiA ibmA icbcA iceA icuA idQ0KAB002H ieQ0KD:000M ieeeA ifmA
ikanoA ilQ0KE7001? imQ0KFF001; imamatA imdbA immoA immobilienA inQ0KH1007M incA industriesA infinitiA
infoQ0KON0077 ingA inkA instituteA insuranceA insureA intQ0L750004 internationalA intuitA investmentsA
ioQ0L7900I6 ipirangaA iqQ0M0?000N irQ0M1=0021 irishA isQ0M3>001A ismailiA istA istanbulA itQ0M4O0456 itauA
itvA jaguarA javaA jcbA jeQ11:5000B jeepA jetztA jewelryA jioA jllA jmD jmpA jnjA joQ11:G0019 jobsA joburgA
jotA joyA jpQ11<002=7 jpmorganA jprsA juegosA juniperA kaufenA kddiA keQ13I7001@ kerryhotelsA kerrylogisticsA
kerrypropertiesA kfhA kgQ13JG001H khD kiQ13L?0014 kiaA kidsA kimA kinderA kindleA kitchenA kiwiA kmQ13MC003C
knQ1416000D koelnA komatsuA kosherA kpQ141J000N kpmgA kpnA krQ142H006; krdQ14930009 kredA kuokgroupA
kwQ149<0013 kyQ14:?000D kyotoA kzQ14;3001K laQ14<N001A lacaixaA lamborghiniA lamerA lancasterA lanciaA
landQ14>?000@ landroverA lanxessA lasalleA latA latinoA latrobeA lawA lawyerA lbQ14>O000I lcQ14?H0011 ldsA
leaseA leclercA lefrakA legalA legoA lexusA lgbtA liQ14@I000? lidlA lifeA lifeinsuranceA lifestyleA lightingA
likeA lillyA limitedA limoA lincolnA lindeA linkQ14A8000C lipsyA liveQ14AK0005 livingA lkQ14B0002= llcA llpA
loanA loansA lockerA locusA lolQ14D=0005 londonA lotteA lottoA loveA lplA lplfinancialA lrQ14DB000I
lsQ14E;001? ltQ14FJ000? ltdA ltdaA luQ14G9000F lundbeckA luxeA luxuryA lvQ14GO001= lyQ14I<001< maQ14JH000N
macysA madridA maifA maisonA makeupA manA managementQ14KF0008 mangoA mapA marketA marketingA marketsA
marriottA marshallsA maseratiA mattelA mbaA mcQ14KN000: mckinseyA mdQ14L8000J meQ14M200;> medA mediaQ158@0008
meetA melbourneA memeA memorialA menA menuQ158H0007 merckmsdA mgQ158O001; mhA miamiA microsoftA milA miniA
mintA mitA mitsubishiA mkQ15::001> mlQ15;H0017 mlbA mlsA mmD mmaA mnQ15<O000D moQ15=C000I mobiQ15><000@
mobileA modaA moeA moiA momA monashA moneyA monsterA mormonA mortgageA moscowA motoA motorcyclesA movA movieA
mpQ15>L0004 mqA mrQ15?0000? msQ15??0018 msdA mtQ15@G000L mtnA mtrA muQ15AC0010 museumQ15BC05CK musicA mutualA
mvQ1;6>002= mwQ1;8K001I mxQ1;:D0013 myQ1;;G001C mzQ1;=:0016 naQ1;>@002A nabA nagoyaA nameQ1;A1000J naturaA
navyA nbaA ncQ1;AK000; neA necA netQ1;B601K8 netbankA netflixA networkQ1==>0010 neustarA newA newsQ1=>>000<
nextA nextdirectA nexusA nfQ1=>J001I nflA ngQ1=@C002D ngoA nhkA niQ1=C70024 nicoA nikeA nikonA ninjaA nissanA
nissayA nlQ1=E;0030 noQ1=H;07IE nokiaA northwesternmutualA nortonA nowA nowruzA nowtvA npD nrQ1EB00014 nraA
nrwA nttA nuQ1EC4001; nycA nzQ1ED?003A obiA observerA officeA okinawaA olayanA olayangroupA oldnavyA olloA
omQ1EH0001? omegaA oneQ1EI?0012 ongA onionA onlA onlineQ1EJA000I oooA openA oracleA orangeQ1EK:0006
orgQ1EK@017> organicA originsA osakaA otsukaA ottA ovhQ1G2N0009 paQ1G37001F pageQ1G4M0024 panasonicA parisA
parsA partnersA partsA partyQ1G710005 passagensA payA pccwA peQ1G76001= petA pfQ1G8C000? pfizerA pgD
phQ1G920016 pharmacyA phdA philipsA phoneA photoA photographyA photosQ1G:80008 physioA picsA pictetA
picturesQ1G:@0006 pidA pinA pingA pinkA pioneerA pizzaA pkQ1G:F0027 plQ1G<M01@: placeQ1HM70004 playA
playstationA plumbingA plusA pmQ1HM;000; pnQ1HMF000H pncA pohlA pokerA politieA pornQ1HN>0007 postA
prQ1HNE0024 pramericaA praxiA pressA primeA proQ1I0I002O prodA productionsA profA progressiveA promoA
propertiesA propertyA protectionA pruA prudentialA psQ1I3H0013 ptQ1I4K0022 pubQ1I6M0007 pwQ1I74001: pwcA
pyQ1I8>0014 qaQ1I9B001C qponA quebecA questA racingA radioA reQ1I;5000J readA realestateA realtorA realtyA
recipesA redA redstoneA redumbrellaA rehabA reiseA reisenA reitA relianceA renA rentA rentalsA repairA
reportA republicanA restA restaurantA reviewQ1I;O0005 reviewsA rexrothA richA richardliA ricohA rilA rioA
ripQ1I<40006 roQ1I<:002E rocherA rocksQ1I>O000M rodeoA rogersA roomA rsQ1I?L001N rsvpA ruQ1IAJ00:< rugbyA
ruhrA runQ1IL6002E rwQ1INK0012 rweA ryukyuA saQ1IOM0018 saarlandA safeA safetyA sakuraA saleA salonA
samsclubA samsungA sandvikA sandvikcoromantA sanofiA sapA sarlA sasA saveA saxoA sbQ1J15000I sbiA sbsA
scQ1J1N000I scaA scbA schaefflerA schmidtA scholarshipsA schoolA schuleA schwarzA scienceQ1J2G0005
scotQ1J2L000B sdQ1J3>0018 seQ1J4F008; searchA seatA secureA securityA seekA selectA senerA servicesQ1J=1000;
sevenA sewA sexA sexyA sfrA sgQ1J=<001B shQ1J>N002> shangrilaA sharpA shawA shellA shiaA shikshaA shoesA
shopQ1JA<000E shoppingA shoujiA showA showtimeA siQ1JB1000K silkA sinaA singlesA siteQ1JBL004@ sjA
skQ1JG<000: skiA skinA skyA skypeA slQ1JGF000I slingA smA smartA smileA snQ1JH?001A sncfA soQ1JJ00012 soccerA
socialA softbankA softwareA sohuA solarA solutionsQ1JK20007 songA sonyA soyA spaA spaceQ1JK9000F sportA spotA
srA srlA ssQ1JKO0017 stQ1JM6002C stadaA staplesA starA statebankA statefarmA stcA stcgroupA stockholmA
storageA storeQ1JOI000M streamA studioA studyA styleA suQ1K0F00?? sucksA suppliesA supplyA supportQ1K@50007
surfA surgeryA suzukiA svQ1K@<000I swatchA swissA sxQ1KA50005 syQ1KA:000N sydneyA systemsQ1KB8000=
szQ1KBE000= tabA taipeiA talkA taobaoA targetA tatamotorsA tatarA tattooA taxA taxiA tcQ1KC2000< tciA
tdQ1KC>000: tdkA teamQ1KCH000E techA technologyQ1KD=0004 telA temasekA tennisA tevaA tfQ1KDA0005 tgA
thQ1KDF001; thdA theaterA theatreA tiaaA ticketsA tiendaA tiffanyA tipsA tiresA tirolA tjQ1KF1002: tjmaxxA
tjxA tkA tkmaxxA tlQ1KH;0005 tmQ1KH@0017 tmallA tnQ1KIG002I toQ1KL@002B todayQ1KO2000> tokyoA toolsA
topQ1KO@000@ torayA toshibaA totalA toursA townA toyotaA toysA trQ1L00003L tradeQ1L3L0005 tradingA trainingA
travelA travelchannelA travelersA travelersinsuranceA trustA trvA ttQ1L410030 tubeA tuiA tunesA tushuA
tvQ1L71001= tvsA twQ1L8>003C tzQ1L<1001H uaQ1L=I00BD ubankA ubsA ugQ1M0=001< ukQ1M1I007K unicomA universityA
unoA uolA upsA usQ1M9D00I@ uyQ1N340016 uzQ1N4:000C vaA vacationsA vanaA vanguardA vcQ1N4M001> veQ1N6;0038
vegasA venturesA verisignA versicherungA vetA vgQ1N9C0004 viQ1N9G000H viajesA videoA vigA vikingA villasA
vinA vipA virginA visaA visionA vivaA vivoA vlaanderenA vnQ1N:?002: vodkaA volkswagenA volvoA voteA votingA
votoA voyageA vuQ1N<I0017 vuelosA walesA walmartA walterA wangA wanggouA watchA watchesA weatherA
weatherchannelA webcamA weberA websiteQ1N>00008 weddingA weiboA weirA wfQ1N>8000: whoswhoA wienA
wikiQ1N>B0008 williamhillA winA windowsA wineA winnersA wmeA wolterskluwerA woodsideA workA worksA worldA
wowA wsQ1N>J001K wtcA wtfA xboxA xeroxA xfinityA xihuanA xinA xn--11b4c3dA xn--1ck2e1bA xn--1qqw23aA
xn--2scrj9cA xn--30rr7yA xn--3bst00mA xn--3ds443gA xn--3e0b707eA xn--3hcrj9cA xn--3pxu8kA xn--42c2d9aA
xn--45br5cylA xn--45brj9cA xn--45q11cA xn--4dbrk0ceQ1N@E001E xn--4gbrimA xn--54b7fta0ccA xn--55qw42gA
xn--55qx5dA xn--5su34j936bgsgA xn--5tzm5gA xn--6frz82gA xn--6qq986b3xlA xn--80adxhksA xn--80ao21aA
xn--80aqecdr1aA xn--80asehdbA xn--80aswgA xn--8y0a063aA xn--90a3acQ1NB:001O xn--90aeA xn--90aisA xn--9dbq2aA
xn--9et52uA xn--9krt00aA xn--b4w605ferdA xn--bck1b9a5dre4cA xn--c1avgA xn--c2br7gA xn--cck2b3bA
xn--cckwcxetdA xn--cg4bkiA xn--clchc0ea0b2g2a9gcdA xn--czr694bA xn--czrs0tA xn--czru2dA xn--d1acj3bA
xn--d1alfA xn--e1a4cA xn--eckvdtc9dA xn--efvy88hA xn--fct429kA xn--fhbeiA xn--fiq228c5hsA xn--fiq64bA
xn--fiqs8sA xn--fiqz9sA xn--fjq720aA xn--flw351eA xn--fpcrj9c3dA xn--fzc2c9e2cA xn--fzys8d69uvgmA
xn--g2xx48cA xn--gckr3f0fA xn--gecrj9cA xn--gk3at1eA xn--h2breg3eveA xn--h2brj9cA xn--h2brj9c8cA xn--hxt814eA
xn--i1b6b1a6a2eA xn--imr513nA xn--io0a7iA xn--j1aefA xn--j1amhA xn--j6w193gQ1ND90029 xn--jlq480n2rgA
xn--jvr189mA xn--kcrx77d1x4aA xn--kprw13dA xn--kpry57dA xn--kput3iA xn--l1accA xn--lgbbat1ad8jA xn--mgb2ddesA
xn--mgb9awbfA xn--mgba3a3ejtA xn--mgba3a4f16aA xn--mgba3a4fraA xn--mgba7c0bbn0aA xn--mgbaakc7dvfA
xn--mgbaam7a8hA xn--mgbab2bdA xn--mgbah1a3hjkrdA xn--mgbai9a5eva00bA xn--mgbai9azgqp6jA xn--mgbayh7gpaA
xn--mgbbh1aA xn--mgbbh1a71eA xn--mgbc0a9azcgA xn--mgbca7dzdoA xn--mgbcpq6gpa1aA xn--mgberp4a5d4a87gA
xn--mgberp4a5d4arA xn--mgbgu82aA xn--mgbi4ecexpA xn--mgbpl2fhA xn--mgbqly7c0a67fbcA xn--mgbqly7cvafrA
xn--mgbt3dhdA xn--mgbtf8flA xn--mgbtx2bA xn--mgbx4cd0abA xn--mix082fA xn--mix891fA xn--mk1bu44cA xn--mxtq1mA
xn--ngbc5azdA xn--ngbe9e0aA xn--ngbrxA xn--nnx388aA xn--nodeA xn--nqv7fA xn--nqv7fs00emaA xn--nyqy26aA
xn--o3cw4hQ1NFB002L xn--ogbpf8flA xn--otu796dA xn--p1acfQ1NI>003E xn--p1aiA xn--pgbs0dhA xn--pssy2uA
xn--q7ce6aA xn--q9jyb4cA xn--qcka1pmcA xn--qxa6aA xn--qxamA xn--rhqv96gA xn--rovu88bA xn--rvc1e0am3eA
xn--s9brj9cA xn--ses554gA xn--t60b56aA xn--tckweA xn--tiq49xqyjA xn--unup4yA xn--vermgensberater-ctbA
xn--vermgensberatung-pwbA xn--vhquvA xn--vuq861bA xn--w4r85el8fhu5dnraA xn--w4rs40lA xn--wgbh1cA xn--wgbl6aA
xn--xhq521bA xn--xkc2al3hye2aA xn--xkc2dl3a5ee0hA xn--y9a3aqA xn--yfro4i67oA xn--ygbi2ammxA xn--zfr164bA xxxA
xyzQ1NM3001? yachtsA yahooA yamaxunA yandexA yeQ1NNB000N yodobashiA yogaA yokohamaA youA youtubeA ytQ1NO@0005
yunA zaP1NOE0038 zapposA zaraA zeroA zipA zmQ1O2M001F zoneQ1O4C000K zuerichA zwQ1O5>000G comA drrC eduA govA
milA netA orgA officialC nomA acA blogspotC coA govA milA netA orgA schA accident-investigationA
accident-preventionA aerobaticA aeroclubA aerodromeA agentsA air-surveillanceA air-traffic-controlA aircraftA
airlineA airportA airtrafficA ambulanceA amusementA associationA authorA ballooningA brokerA caaA cargoA
cateringA certificationA championshipA charterA civilaviationA clubA conferenceA consultantA consultingA
controlA councilA crewA designA dgcaA educatorA emergencyA engineA engineerA entertainmentA equipmentA
exchangeA expressA federationA flightA fuelA glidingA governmentA groundhandlingA groupA hangglidingA
homebuiltA insuranceA journalA journalistA leasingA logisticsA magazineA maintenanceA mediaA microlightA
modellingA navigationA parachutingA paraglidingA passenger-associationA pilotA pressA productionA recreationA
repbodyA resA researchA rotorcraftA safetyA scientistA servicesA showA skydivingA softwareA studentA traderA
tradingA trainerA unionA workinggroupA worksA comA eduA govA netA orgA coA comA netA nomA orgA comA netA offA
orgA uwuC blogspotC comA eduA govA milA netA orgA blogspotC coA comA communeA nekoC netA nyaaC orgA radioC
coA edA gvA itA ogA pbA begetF bookonlineC clerkC clerkstageC detaC developerF easypanelC edgecomputeC encrC
firewebC framerC hasuraC loginlineC messerliC netlifyC noopC northflankF ondigitaloceanC onflashdriveC
platform0C runS1O650003 snowflakeS1O68000= streamlitC telebitC typedreamC vercelC webC wnextC betA
comQ1O6E000: coopA eduA gobA govA intA milA musicaA mutualA netA orgA senasaA turA e164A in-addrA ip6A irisA
uriA urnA govA cloudnsC 123webseiteC 12hpC 2ixC 4limaC acQ1O6O0005 bizC coQ1O74000: funkfeuerP1O7>0006
futurecmsV1O7D0008 futurehostingC futuremailingC gvA infoC lima-cityC myspreadshopC orA ortsinfoP1O7L000<
privC actA asnA comQ1O88001; confA eduQ1O9C001G govQ1O;:000G idA infoA netA nswA ntA orgA ozA qldA saA tasA
vicA waA comA beC catC esC euC ggC mcC usC xyC bizA comA eduA govA infoA intA milA nameA netA orgA ppA proA
blogspotC comA eduA govA milA netA orgA rsC ausC nzC bizA coA comA eduA govA infoA netA orgA storeA tvA
123websiteC acA blogspotC interhostsolutionsP1O<10007 kuleuvenP1O<80009 myspreadshopC transurlF webhostingC
govA 0A 1A 2A 3A 4A 5A 6A 7A 8A 9A aA bA barsyC blogspotC cA dA eA fA gA hA iA jA kA lA mA nA oA pA qA rA sA
tA uA vA wA xA yA zA comA eduA govA netA orgA coA comA eduA orA orgA activetrailC cloudnsC dscloudC dyndnsC
for-betterC for-moreC for-someC for-theC joziC mmafanC myftpC no-ipC orxC selfipC webhopC africaA agroA
architectesA assurA avocatsA blogspotC coA comA ecoA econoA eduA infoA loisirsA moneyA netA orgA oteA
restaurantA restoA tourismA univA comA eduA govA netA orgA coC comA eduA govA netA orgA academiaA agroA arteA
blogA boliviaA cienciaA comA cooperativaA democraciaA deporteA ecologiaA economiaA eduA empresaA gobA
indigenaA industriaA infoA intA medicinaA milA movimientoA musicaA naturalA netA nombreA noticiasA orgA
patriaA plurinacionalA politicaA profesionalA puebloA revistaA saludA tecnologiaA tksatA transporteA tvA webA
wikiA 9guacuA abcA admA advA agrA ajuA amA ananiA aparecidaA appA arqA artA atoA bA barueriA belemA bhzA bibA
bioA blogA bmdA boavistaA bsbA campinagrandeA campinasA caxiasA cimA cngA cntA comQ1O<A001< contagemA coopA
cozA criA cuiabaA curitibaA defA desA detA devA ecnA ecoA eduA empA enfA engA espA etcA etiA farA feiraA
flogA floripaA fmA fndA fortalA fotA fozA fstA g12A geoA ggfA goianiaA govQ1O=M003< gruA imbA indA infA jabA
jampaA jdfA joinvilleA jorA jusA legQ1OA9003< lelA logA londrinaA macapaA maceioA manausA maringaA matA medA
milA morenaA mpA musA natalA netA niteroiA nomD notA ntrA odoA ongA orgA osascoA palmasA poaA ppgA proA pscA
psiA pvhA qslA radioA recA recifeA repA ribeiraoA rioA riobrancoA riopretoA salvadorA sampaA santamariaA
santoandreA saobernardoA saogoncaA segA sjcA slgA slzA sorocabaA srvA taxiA tcA tecA teoA theA tmpA trdA turA
tvA udiA vetA vixA vlogA wikiA zlgA comA eduA govA netA orgA weC comA eduA govA netA orgA cloudsiteC coC coA
orgA comQ1ODE000: govA mediatechC milA mycloudC ofA comA eduA govA gsjC netA orgA zaC abA awdevF barsyC bcA
blogspotC coC gcA mbA myspreadshopC nbA nfA nlA no-ipC nsA ntA nuA onA peA qcA skA ykA nabuP1ODO0004 cloudnsC
csxC fantasyleagueC ftpaccessC game-serverC myphotosC scrappingC spawnP1OE3000; twmailC govA blogspotC
123websiteC 12hpC 2ixC 4limaC blogspotC dnskingC firenetV1OE>0005 flowP1OEC000G gotdnsC lima-cityC
linkyard-cloudC myspreadshopC square7C acA assoA coA comA edA eduA finC goA gouvA intA mdA netA nlC orA orgA
presseA xn--aroport-byaA wwwH blogspotC coA gobA govA milA axarnetP1OF:0006 banzaiF diademC elementorC
encowayP1OF@0004 jelasticP1OFD0005 jeleC jenv-arubaP1OFI000D joteluluC keliwebS1OG=0004 kuleuvenC linkyardC
magentositeF on-rancherF oxaS1OGA0008 perspectaC primetelS1OGI0004 ravendbC reclaimP1OGM000< scwP1OH9003E
sensiositeF staticsF trafficplexC trendhostingP1OKN0008 urownC vaporC voorloperC barsyC cloudnsC jeleC coA
comA govA netA acA ahA bjA canva-appsC comQ1OL6000C cqA eduA fjA gdA govA gsA gxA gzA haA hbA heA hiA hkA hlA
hnA instantcloudC jlA jsA jxA lnA milA moA netA nmA nxA orgA qhA quickconnectP1OLI0008 scA sdA shA snA sxA
tjA twA xjA xn--55qx5dA xn--io0a7iA xn--od0algA xzA ynA zjA artsA carrdC comQ1OM1000: crdC eduA
firewalledreplitS1OM;0004 firmA govA infoA intA leadpagesC lpagesC milA mypiC n4tC netA nomA orgA otapF recA
replS1OM?0004 supabaseC webA owoF 001wwwC 0emmF 1kappC 3utilitiesC 4uC adobeaemcloudS1OMC0005 africaC
airkitappsC airkitapps-auC aivencloudC alpha-myqnapcloudC amazonawsP1OMH00M6 amscomputeC appchiziC applinziC
appspacehostedC appspaceusercontentC appspotS20JN0003 arC authgear-stagingC authgearappsC
awsglobalacceleratorC awsmpplC balena-devicesC barsycenterC barsyonlineC betainaboxC blogdnsC blogspotC
blogsyteC bloxcmsC bounty-fullS20K1000= boutirC bplacedC brC builtwithdarkC cafjsC canva-appsC cechireC
cf-ipfsC ciscofreakC clicketcloudC cloudcontrolappC cloudcontrolledC cloudflare-ipfsC cnC coC codeP20K>0013
codespotC customer-ociV20LA000? damnserverC datadetectP20M0000@ dattolocalC dattorelayC dattowebC ddns5C
ddnsfreeC ddnsgeekC ddnskingC ddnsliveC deC dev-myqnapcloudC devcdnaccessoF digitaloceanspacesF discordsaysC
discordsezC ditchyouripC dnsaliasC dnsdojoC dnsiskinkyC doesntexistC dontexistC doomdnsC dopaasC drayddnsC
dreamhostersC dsmynasC dyn-o-saurC dynaliasC dyndns-at-homeC dyndns-at-workC dyndns-blogC dyndns-freeC
dyndns-homeC dyndns-ipC dyndns-mailC dyndns-officeC dyndns-picsC dyndns-remoteC dyndns-serverC dyndns-webC
dyndns-wikiC dyndns-workC dynnsC elasticbeanstalkS20M@006O encoreapiC est-a-la-maisonC est-a-la-masionC
est-le-patronC est-mon-blogueurC euC evennodeP214?001@ familydsC fastly-edgeC fastly-terrariumC
fastvps-serverC fbsbxP215O0006 firebaseappC firewall-gatewayC fldrvC forgeblocksC framercanvasC freebox-osC
freeboxosC freemyipC from-akC from-alC from-arC from-caC from-ctC from-dcC from-deC from-flC from-gaC
from-hiC from-iaC from-idC from-ilC from-inC from-ksC from-kyC from-maC from-mdC from-miC from-mnC from-moC
from-msC from-mtC from-ncC from-ndC from-neC from-nhC from-njC from-nmC from-nvC from-ohC from-okC from-orC
from-paC from-prC from-riC from-scC from-sdC from-tnC from-txC from-utC from-vaC from-vtC from-waC from-wiC
from-wvC from-wyC geekgalaxyC gentappsC gentlentapisC getmyipC giizeC githubusercontentC gleezeC googleapisC
googlecodeC gotdnsC gotpantheonC grC health-carereformC herokuappC herokusslC hidoraC hkC hobby-siteC
homelinuxC homesecuritymacC homesecuritypcC homeunixC hosted-by-previderP21650006 hostedpiC hosteurP216;000I
hotelwithflightC huC iamallamaC ik-serverP2174000H impertrixC impertrixcdnC is-a-anarchistC is-a-bloggerC
is-a-bookkeeperC is-a-bulls-fanC is-a-catererC is-a-chefC is-a-conservativeC is-a-cpaC is-a-cubicle-slaveC
is-a-democratC is-a-designerC is-a-doctorC is-a-financialadvisorC is-a-geekC is-a-greenC is-a-guruC
is-a-hard-workerC is-a-hunterC is-a-landscaperC is-a-lawyerC is-a-liberalC is-a-libertarianC is-a-llamaC
is-a-musicianC is-a-nascarfanC is-a-nurseC is-a-painterC is-a-personaltrainerC is-a-photographerC
is-a-playerC is-a-republicanC is-a-rockstarC is-a-socialistC is-a-studentC is-a-teacherC is-a-techieC
is-a-therapistC is-an-accountantC is-an-actorC is-an-actressC is-an-anarchistC is-an-artistC is-an-engineerC
is-an-entertainerC is-certifiedC is-goneC is-into-animeC is-into-carsC is-into-cartoonsC is-into-gamesC
is-leetC is-not-certifiedC is-slickC is-uberleetC is-with-thebandC isa-geekC isa-hockeynutC issmarterthanyouC
itC jdevcloudC jelasticP217L0006 joyentP21820005 jpnC kasserverC kilatironC kozowC krC ktistoryC likes-pieC
likescandyC linodeP2187000G linodeobjectsF linodeusercontentP218N0004 lmpmP21920005 logoipC loseyouripC
lpusercontentC massivegridP21970006 mazeplayC messwithdnsC meteorappS219=0004 mexC miniserverC
myactivedirectoryC myasustorC mydattoC mydobissC mydroboC myiphostC myqnapcloudC mysecuritycameraC
myshopblocksC myshopifyC myspreadshopC mytabitC mythic-beastsP219A002? mytuleapC myvncC neat-urlC net-freaksC
nfshostC noC nospamproxyP21<00007 observableusercontentP21<70008 on-aptibleC onfabricaC onrenderC onthewifiC
ooguyC operauniteC orsitesC outsystemscloudC ownproviderC pagefrontappC pagespeedmobilizerC pagexlC paywhirlF
pgfogC pixolinoC platter-appC playstation-cloudC plesknsC point2thisC postman-echoC prgmrP21<?0005
publishproxyC pythonanywhereS21<D0004 qa2C qbuserC qcC qualifioappC quicksytesC quipelementsF rackmazeC
remotewdC renderP21<H0005 reservdC reserve-onlineC rhcloudC ruC saC saves-the-whalesC scrysecC
securitytacticsC selfipC sells-for-lessC sells-for-uC servebbsC servebeerC servecounterstrikeC serveexchangeC
serveftpC servegameC servehalflifeC servehttpC servehumourC serveircC servemp3C servep2pC servepicsC
servequakeC servesarcasmC shopitsiteC siiitesC simple-urlC simplesiteC sinaappC skygearappC smushcdnC
space-to-rentC stackhero-networkC stdlibP21<M0005 streamlitappC stufftoreadC tb-hostingP21=20006
teaches-yogaC temp-dnsC theworkpcC thingdustdataC townnews-stagingC try-snowplowC trycloudflareC
tuleap-partnersC typeformP21=80005 ukC unusualpersonC usC uyC vipsinaappC vultrobjectsF wafaicloudP21==000?
wafflecellC wiardwebP21=L0007 withgoogleC withyoutubeC wixsiteC woltlab-demoC workisboringC wpdevcloudC
wpenginepoweredS21>30004 wphostedmailC wpmucdnC writesthisblogC xnbayS21>7000> yolasiteC zaC myforumC nogC
ravendbC deC elementorC acA coA edA fiA goA orA saA comA eduA govA infA netA orgA blogspotC comA eduA intA
nomeA orgA comA eduA netA orgA athC govA infoC acA bizA comQ21>E000N eklogesA govA ltdA milA netA orgA pressA
proA tmA blogspotC coC e4C metacentrumP21?C000? muniP21@2000? realmC 123webseiteC 12hpC 2ixC 4limaC barsyC
blogspotC bplacedC comC community-proC cosidnsP21@A0005 dd-dnsC ddnssS21@F000= diskussionsbereichC dnshomeC
dnsupdaterC dray-dnsC draydnsC dyn-berlinC dyn-ip24C dyn-vpnC dynamisches-dnsC dyndns1C dynvpnC
firewall-gatewayC fruskyF fuettertdasnetzC git-reposC goipC home-webserverS21A30005 hs-heilbronnP21A8000<
in-berlinC in-brbC in-butterC in-dslC in-vpnC internet-dnsC iservschuleC isteingeekC istmeinC keymachineC
l-o-g-i-nC lcube-serverC lebtimnetzC leitungsenC lima-cityC logoipC mein-iservC mein-vigorC my-gatewayC
my-routerC my-vigorC my-wanC myhome-serverC myspreadshopC schulplattformC schulserverC spdnsC
speedpartnerP21AD000: square7C svn-reposC syno-dsC synology-diskstationC synology-dsC taifun-dnsC test-iservC
traeumtgeradeC uberspaceF virtual-userC virtualuserC xn--gnstigbestellen-zvbC xn--gnstigliefern-wobC bssC
autocodeC curvC denoC deno-stagingC detaC flyC gatewayF githubpreviewC iservC lclF lclstageF
localcertP21AN0006 loginlineC mediatechC pagesC platter-appC r2C shiftcryptoC stgF stgstageF vercelC webhareF
workersC cloudappsS21B40008 123hjemmesideC bizC blogspotC coC firmC myspreadshopC regC storeC comA eduA govA
netA orgA artA comA eduA gobA govA milA netA orgA sldA webA artA assoA comA eduA govA netA orgA polA socA tmA
dappsV21B<0005 baseC comA eduA finA gobA govA infoA k12A medA milA netA officialC orgA proA ritP21BA000; coC
aipA comQ21BL000: eduA fieA govA libA medA orgA priA riikA comQ21C6000: eduA eunA govA milA nameA netA orgA
sciA 123miwebC comQ21C@000: eduA gobA myspreadshopC nomA orgA computeF bizA comA eduA govA infoA nameA netA
orgA airkitappsC barsyC cloudnsC diskstationC dogadoP21CJ000: mycdC spdnsC transurlF wellbeingzoneC
partyP21D40006 coC koobinC yboC storjC 123kotisivuC alandA blogspotC cloudplatformP21D:0004
datacenterP21D>000< dyC ikiC kapsiC myspreadshopC xn--hkkinen-5waC coC acA bizA comA govA infoA milA nameA
netA orgA proA comA eduA netA orgA radioC userF 123sitewebC aeroportA assoA avocatA avouesA blogspotC cciA
chambagriA chirurgiens-dentistesA chirurgiens-dentistes-en-franceC comA dediboxC en-rootC experts-comptablesA
fbx-osC fbxosC freebox-osC freeboxosC geometre-expertA goupileC gouvA gretaA huissier-justiceA medecinA
myspreadshopC nomA notairesA on-webC pharmacienA portA prdA tmA veterinaireA ynhC eduA govA cnpyC comA eduA
govA milA netA orgA pvtA coA cyaC kaasC netA orgA panelS21DJ0008 comA eduA govA milA orgA comA eduA govA ltdA
modA orgA bizC coA comA eduA netA orgA xxC acA comA eduA govA netA orgA cloudC translateC usercontentF appC
assoA comA eduA mobiA netA orgA blogspotC comA eduA govA netA orgA simplesiteC discourseC blogC comA deC eduA
gobA indA milA netA orgA toC comA eduA govA guamA infoA netA orgA webA beC coA comA eduA govA netA orgA hraC
blogspotC comA eduA govA idvA incC ltdC netA orgA secaasC xn--55qx5dA xn--ciqpnA xn--gmq050iA xn--gmqw5aA
xn--io0a7iA xn--lcvr32dA xn--mk0axiA xn--mxtq1mA xn--od0algA xn--od0aq3bA xn--tn0agA xn--uc0atvA xn--uc0ay4aA
xn--wcvs22dA xn--zf0avxA ccC comA eduA gobA milA netA orgA cloudaccessC easypanelC fastvpsC freesiteC halfC
jeleC mircloudC myfastC pcloudC tempurlC wpmudevC opencraftC blogspotC comA freeC fromA izA nameA adultA artA
assoA comA coopA eduA firmA gouvA infoA medA netA orgA persoA polA proA relA shopA 2000A agrarA blogspotC
boltA casinoA cityA coA eroticaA erotikaA filmA forumA gamesA hotelA infoA ingatlanA jogaszA konyveloA lakasA
mediaA newsA orgA privA reklamA sexA shopA sportA suliA szexA tmA tozsdeA utazasA videoA acA bizA coQ21E2000:
desaA flapC forteC goA milA myQ21E<0005 netA orA ponpesA schA webA blogspotC govA myspreadshopC acA
coQ21EA0018 govA idfA k12A muniA netA orgA acA coQ21FI000: comA netA orgA roC ttA tvA 5gA 6gA acA aiA amA
barsyC biharA bizA blogspotC businessA caA cloudnsC cnA coA comA coopA csA delhiA drA eduA erA firmA genA
govA gujaratA indA infoA intA internetA ioA meA milA netA nicA orgA pgA postA proA resA supabaseC travelA tvA
ukA upA usA webC barrel-of-knowledgeC barrell-of-knowledgeC barsyC cloudnsC dnsupdateC dvrcamC dynamic-dnsC
dyndnsC for-ourC forumzC groks-theC groks-thisC here-for-moreC ilovecollegeC knowsitallC mayfirstC no-ipC
nsupdateC selfipC v-infoC webhopC euA 2038C apigeeC azurecontainerF b-dataC backplaneappC
banzaicloudP21G3000@ barsyC basicserverC beagleboardC beebyteP21GC0006 beebyteappP21GI0007 bigvP21H00005
bitbucketC bluebiteC boxfuseC browsersafetymarkC cleverappsC comA dappnodeP21H50008 dedynC definimaC drudC
dyn53C editorxC edugitC fh-muensterC forgerockP21H=0004 ghostC githubC gitlabC hasura-appC hostyhostingC hzcC
jeleC lairP21HA0006 loginlineC lolipopC mo-siemensC moonscaleF musicianC ngrokC nidC nodeartP21HG0007
on-acornF on-k3sF on-rioF pantheonsiteC protonetC pstmnS21HN0006 qcxS21I40005 qotoC readthedocsC resindeviceC
resinstagingP21I90009 s5yF sandcatsC shiftcryptoC shifteditC shwC spacekitC stolosF telebitC
thingdustP21IB001L ticketsC unispaceP21K>000; upliC utwenteC vaporcloudC vbrplsbxP21KI0003 virtualserverC
webthingsC wedeployC comA eduA govA milA netA orgA acA coA govA idA netA orgA schA xn--mgba3a4f16aA
xn--mgba3a4fraA blogspotC comA cupcakeC eduA govA intA netA orgA 123homepageC 16-bC 32-bC 64-bC abrA abruzzoA
agA agrigentoA alA alessandriaA alto-adigeA altoadigeA anA anconaA andria-barletta-traniA
andria-trani-barlettaA andriabarlettatraniA andriatranibarlettaA aoA aostaA aosta-valleyA aostavalleyA aosteA
apA aqA aquilaA arA arezzoA ascoli-picenoA ascolipicenoA astiA atA avA avellinoA baA balsanA balsan-sudtirolA
balsan-suedtirolA bariA barletta-trani-andriaA barlettatraniandriaA basA basilicataA bellunoA beneventoA
bergamoA bgA biA biellaA blA blogspotC bnA boA bolognaA bolzanoA bolzano-altoadigeA bozenA bozen-sudtirolA
bozen-suedtirolA brA bresciaA brindisiA bsA btA bulsanA bulsan-sudtirolA bulsan-suedtirolA bzA caA cagliariA
calA calabriaA caltanissettaA camA campaniaA campidano-medioA campidanomedioA campobassoA carbonia-iglesiasA
carboniaiglesiasA carrara-massaA carraramassaA casertaA cataniaA catanzaroA cbA ceA cesena-forliA
cesenaforliA chA chietiA ciA clA cnA coA comoA cosenzaA crA cremonaA crotoneA csA ctA cuneoA czA
dell-ogliastraA dellogliastraA eduA emilia-romagnaA emiliaromagnaA emrA enA ennaA fcA feA fermoA ferraraA fgA
fiA firenzeA florenceA fmA foggiaA forli-cesenaA forlicesenaA frA friuli-v-giuliaA friuli-ve-giuliaA
friuli-vegiuliaA friuli-venezia-giuliaA friuli-veneziagiuliaA friuli-vgiuliaA friuliv-giuliaA
friulive-giuliaA friulivegiuliaA friulivenezia-giuliaA friuliveneziagiuliaA friulivgiuliaA frosinoneA fvgA
geA genoaA genovaA goA goriziaA govA grA grossetoA ibxosC iglesias-carboniaA iglesiascarboniaA iliadboxosC
imA imperiaA isA iserniaA krA la-speziaA laquilaA laspeziaA latinaA lazA lazioA lcA leA lecceA leccoA liA
ligA liguriaA livornoA loA lodiA lomA lombardiaA lombardyA ltA luA lucaniaA luccaA macerataA mantovaA marA
marcheA massa-carraraA massacarraraA materaA mbA mcA meA medio-campidanoA mediocampidanoA messinaA miA milanA
milanoA mnA moA modenaA molA moliseA monzaA monza-brianzaA monza-e-della-brianzaA monzabrianzaA
monzaebrianzaA monzaedellabrianzaA msA mtA myspreadshopC naA naplesA napoliA neenP21KL0004 noA novaraA nuA
nuoroA ogA ogliastraA olbia-tempioA olbiatempioA orA oristanoA otA paA padovaA paduaA palermoA parmaA paviaA
pcA pdA peA perugiaA pesaro-urbinoA pesarourbinoA pescaraA pgA piA piacenzaA piedmontA piemonteA pisaA
pistoiaA pmnA pnA poA pordenoneA potenzaA prA pratoA ptA puA pugA pugliaA pvA pzA raA ragusaA ravennaA rcA
reA reggio-calabriaA reggio-emiliaA reggiocalabriaA reggioemiliaA rgA riA rietiA riminiA rmA rnA roA romaA
romeA rovigoA saA salernoA sarA sardegnaA sardiniaA sassariA savonaA siA sicA siciliaA sicilyA sienaA
siracusaA soA sondrioA spA srA ssA suedtirolA svA syncloudC taA taaA tarantoA teA tempio-olbiaA tempioolbiaA
teramoA terniA timP21L0000> tnA toA torinoA tosA toscanaA tpA trA trani-andria-barlettaA
trani-barletta-andriaA traniandriabarlettaA tranibarlettaandriaA trapaniA trentin-sud-tirolA
trentin-sudtirolA trentin-sued-tirolA trentin-suedtirolA trentinoA trentino-a-adigeA trentino-aadigeA
trentino-alto-adigeA trentino-altoadigeA trentino-s-tirolA trentino-stirolA trentino-sud-tirolA
trentino-sudtirolA trentino-sued-tirolA trentino-suedtirolA trentinoa-adigeA trentinoaadigeA
trentinoalto-adigeA trentinoaltoadigeA trentinos-tirolA trentinostirolA trentinosud-tirolA trentinosudtirolA
trentinosued-tirolA trentinosuedtirolA trentinsud-tirolA trentinsudtirolA trentinsued-tirolA
trentinsuedtirolA trentoA trevisoA triesteA tsA turinA tuscanyA tvA udA udineA umbA umbriaA urbino-pesaroA
urbinopesaroA vaA val-d-aostaA val-daostaA vald-aostaA valdaostaA valle-aostaA valle-d-aostaA valle-daostaA
valleaostaA valled-aostaA valledaostaA vallee-aosteA vallee-d-aosteA valleeaosteA valleedaosteA vaoA vareseA
vbA vcA vdaA veA venA venetoA veneziaA veniceA verbaniaA vercelliA veronaA viA vibo-valentiaA vibovalentiaA
vicenzaA viterboA vrA vsA vtA vvA xn--balsan-sdtirol-nsbA xn--bozen-sdtirol-2obA xn--bulsan-sdtirol-nsbA
xn--cesena-forl-mcbA xn--cesenaforl-i8aA xn--forl-cesena-fcbA xn--forlcesena-c8aA xn--sdtirol-n2aA
xn--trentin-sd-tirol-rzbA xn--trentin-sdtirol-7vbA xn--trentino-sd-tirol-c3bA xn--trentino-sdtirol-szbA
xn--trentinosd-tirol-rzbA xn--trentinosdtirol-7vbA xn--trentinsd-tirol-6vbA xn--trentinsdtirol-nsbA
xn--valle-aoste-ebbA xn--valle-d-aoste-ehbA xn--valleaoste-e7aA xn--valledaoste-ebbA coA netA ofC orgA comA
eduA govA milA nameA netA orgA schA acA adA aichiQ21L>00=> akitaQ229L007F angryC aomoriQ22AB0068 babyblueC
babymilkC backdropC bambinaC bitterC blogspotC blushC booC boyC boyfriendC butC buyshopC candypopC capooC
catfoodC cheapC chibaQ22GJ00@G chicappaC chilloutC chipsC chowderC chuC ciaoC coA cocotteC coolblogC crankyC
cutegirlC daaC decaC deciC digickC edA egoismC ehimeQ238A005H fakefurC fashionstoreC femC flierC floppyC
foolC frenchkissC fukuiQ23>9003L fukuokaQ23B500@4 fukushimaQ242900>@ gifuQ24@I00:: girlfriendC girlyC gloomyC
goA gonnaC grA greaterC gunmaQ24K300:8 haccaC handcraftedC heavyC herC hihoC hippyC hiroshimaQ255;0075
hokkaidoQ25<@019C holyC hungryC hyogoQ26F300<4 ibarakiQ272700=J icurusC ishikawaQ27@1004L itigoC
iwateQ27DM009A jellybeanC kagawaQ27N>004> kagoshimaQ282L005D kanagawaQ288@0088 kawaiishopC kawasakiT28@H0006
kikiraraC killC kiloC kitakyushuT28@N0006 kobeT28A40006 kochiQ28A:0080 kumamotoQ28I:0063 kuronC
kyotoQ28O=008> lgA littlestarC lolipopmcC lolitapunkC lomoC lovepopC lovesickC mainC mieQ297K007;
miyagiQ29?60097 miyazakiQ29H=007G modsC mondC mongolianC mooC naganoQ2:0400D6 nagasakiQ2:D:005M
nagoyaT2:J70006 namasteC naraQ2:J=00:L neQ2;59000I niigataQ2;62008J nikitaC nobushiC noorC oitaQ2;>L004F
okayamaQ2;CB0071 okinawaQ2;JC00;F oopsC orA osakaQ2<6900?0 parallelC parasiteC pecoriC peeweeC penneC pepperC
permaC pigboatC pinokoC punyuC pupuC pussycatC pyaC raindropC readymadeC sadistC sagaQ2<E9006L
saitamaQ2<L500C5 sapporoT2=?:0006 schoolbusC secretC sendaiT2=?@0006 shigaQ2=?F0067 shimaneQ2=EM0066
shizuokaQ2=L300:6 stabaC stripperC subC sunnydayC supersaleC theshopC thickC tochigiQ2>69008:
tokushimaQ2>>C004G tokyoQ2>C:00@8 tonkotsuC tottoriQ2?3B003; toyamaQ2?6M0068 underC upperC usercontentC
velvetC verseC versusC vivianC wakayamaQ2?=50080 watsonC weblikeC whitesnowC xn--0trq7p7nnA xn--1ctwoA
xn--1lqs03nA xn--1lqs71dA xn--2m4a15eA xn--32vp30hA xn--4it168dA xn--4it797kA xn--4pvxsA xn--5js045dA
xn--5rtp49cA xn--5rtq34kA xn--6btw5aA xn--6orx2rA xn--7t0a264cA xn--8ltr62kA xn--8pvr4uA xn--c3s14mA
xn--d5qv7z876cA xn--djrs72d6uyA xn--djty4kA xn--efvn9sA xn--ehqz56nA xn--elqq16hA xn--f6qx53aA xn--k7yn95eA
xn--kbrq7oA xn--klt787dA xn--kltp7dA xn--kltx9aA xn--klty5xA xn--mkru45iA xn--nit225kA xn--ntso0iqx3aA
xn--ntsq17gA xn--pssu33lA xn--qqqt11mA xn--rht27zA xn--rht3dA xn--rht61eA xn--rny31hA xn--tor131oA
xn--uist22hA xn--uisz3gA xn--uuwu58aA xn--vgu402cA xn--zbx025dA yamagataQ2?E5009> yamaguchiQ2?NC003M
yamanashiQ2@2@008< yokohamaT2@:L0006 zombieC acA coQ2@;2000: goA infoA meA mobiA neA orA scA blogC comA eduA
govA ioC jpC milA netA orgA tvC ukC usC bizA comA eduA govA infoA netA orgA assA assoA comA coopA eduA gouvA
govA medecinA milA nomA notairesA orgA pharmaciensA prdA presseA tmA veterinaireA eduA govA netA orgA comA
eduA govA orgA repA traA acA blogspotC busanA chungbukA chungnamA coA daeguA daejeonA esA gangwonA goA
gwangjuA gyeongbukA gyeonggiA gyeongnamA hsA incheonA jejuA jeonbukA jeonnamA kgA milA msA neA orA peA reA
scA seoulA ulsanA coC eduC comA eduA embA govA indA netA orgA comA eduA netA orgA comA eduA govA jcloudC
kazteleportP2@;<0007 milA netA orgA bnrC cC comA eduA govA infoA intA netA orgA perA staticS2@;C000< comA
eduA govA netA orgA coA comA eduA govA netA orgA oyC blogspotC caaC cyonC dwebF mypepC hlxC acA assnA comA
eduA govA grpA hotelA intA ltdA netA ngoA orgA schA socA webA omgC comA eduA govA netA orgA acA bizA coA deC
eduA govA infoA netA orgA scA blogspotC govA 123websiteC blogspotC asnA comA confA eduA govA idA milA netA
orgA comA eduA govA idA medA netA orgA plcA schA acA coA govA netA orgA pressA routerC assoA tmA atC
blogspotC deC jpC toC acA barsyC brasiliaC c66C coA daplieS2@;O000; ddnsC diskstationC dnsforC dscloudC
edgestackC eduA filegearC filegear-auC filegear-deC filegear-gbC filegear-ieC filegear-jpC filegear-sgC
glitchC govA hoptoC i234C itsA logintoC lohmusC mcdirC mcpeC mydsC netA nohostC noipC orgA privA ravendbC
soundcastC synologyC tcp4C transipP2@<:0006 vp4C webhopC wedeployC yomboC framerC barsyC coA comA eduA govA
milA nomA orgA prdA tmA blogspotC comA eduA govA infA nameA netA orgA comA eduA gouvA govA netA orgA presseA
eduA govA nycC orgA comA eduA govA netA orgA barsyC dscloudC juC blogspotC govA comA eduA govA labC minisiteC
netA orgA comQ2@<@000: eduA netA orgA acA coA comA govA netA orA orgA academyA agricultureA airA airguardA
alabamaA alaskaA amberA ambulanceA americanA americanaA americanantiquesA americanartA amsterdamA andA
annefrankA anthroA anthropologyA antiquesA aquariumA arboretumA archaeologicalA archaeologyA architectureA
artA artanddesignA artcenterA artdecoA arteducationA artgalleryA artsA artsandcraftsA asmatartA
assassinationA assisiA associationA astronomyA atlantaA austinA australiaA automotiveA aviationA axisA
badajozA baghdadA bahnA baleA baltimoreA barcelonaA baseballA baselA bathsA bauernA beauxartsA beeldengeluidA
bellevueA bergbauA berkeleyA berlinA bernA bibleA bilbaoA billA birdartA birthplaceA bonnA bostonA botanicalA
botanicalgardenA botanicgardenA botanyA brandywinevalleyA brasilA bristolA britishA britishcolumbiaA
broadcastA brunelA brusselA brusselsA bruxellesA buildingA burghofA busA busheyA cadaquesA californiaA
cambridgeA canA canadaA capebretonA carrierA cartoonartA casadelamonedaA castleA castresA celticA centerA
chattanoogaA cheltenhamA chesapeakebayA chicagoA childrenA childrensA childrensgardenA chiropracticA
chocolateA christiansburgA cincinnatiA cinemaA circusA civilisationA civilizationA civilwarA clintonA clockA
coalA coastaldefenceA codyA coldwarA collectionA colonialwilliamsburgA coloradoplateauA columbiaA columbusA
communicationA communicationsA communityA computerA computerhistoryA contemporaryA contemporaryartA conventA
copenhagenA corporationA corvetteA costumeA countryestateA countyA craftsA cranbrookA creationA culturalA
culturalcenterA cultureA cyberA cymruA daliA dallasA databaseA ddrA decorativeartsA delawareA delmenhorstA
denmarkA depotA designA detroitA dinosaurA discoveryA dollsA donostiaA durhamA eastafricaA eastcoastA
educationA educationalA egyptianA eisenbahnA elburgA elvendrellA embroideryA encyclopedicA englandA
entomologyA environmentA environmentalconservationA epilepsyA essexA estateA ethnologyA exeterA exhibitionA
familyA farmA farmequipmentA farmersA farmsteadA fieldA figueresA filateliaA filmA fineartA fineartsA
finlandA flandersA floridaA forceA fortmissoulaA fortworthA foundationA francaiseA frankfurtA franziskanerA
freemasonryA freiburgA fribourgA frogA fundacioA furnitureA galleryA gardenA gatewayA geelvinckA gemologicalA
geologyA georgiaA giessenA glasA glassA gorgeA grandrapidsA grazA guernseyA halloffameA hamburgA handsonA
harvestcelebrationA hawaiiA healthA heimatunduhrenA hellasA helsinkiA hembygdsforbundA heritageA histoireA
historicalA historicalsocietyA historichousesA historischA historischesA historyA historyofscienceA horologyA
houseA humanitiesA illustrationA imageandsoundA indianA indianaA indianapolisA indianmarketA intelligenceA
interactiveA iraqA ironA isleofmanA jamisonA jeffersonA jerusalemA jewelryA jewishA jewishartA jfkA
journalismA judaicaA judygarlandA juedischesA juifA karateA karikaturA kidsA koebenhavnA koelnA kunstA
kunstsammlungA kunstunddesignA laborA labourA lajollaA lancashireA landesA lansA larssonA lewismillerA
lincolnA linzA livingA livinghistoryA localhistoryA londonA losangelesA louvreA loyalistA lucerneA
luxembourgA luzernA madA madridA mallorcaA manchesterA mansionA mansionsA manxA marburgA maritimeA maritimoA
marylandA marylhurstA mediaA medicalA medizinhistorischesA meeresA memorialA mesaverdeA michiganA
midatlanticA militaryA millA minersA miningA minnesotaA missileA missoulaA modernA momaA moneyA monmouthA
monticelloA montrealA moscowA motorcycleA muenchenA muensterA mulhouseA muncieA museetA museumcenterA
museumverenigingA musicA nationalA nationalfirearmsA nationalheritageA nativeamericanA naturalhistoryA
naturalhistorymuseumA naturalsciencesA natureA naturhistorischesA natuurwetenschappenA naumburgA navalA
nebraskaA neuesA newhampshireA newjerseyA newmexicoA newportA newspaperA newyorkA niepceA norfolkA northA
nrwA nycA nynyA oceanographicA oceanographiqueA omahaA onlineA ontarioA openairA oregonA oregontrailA otagoA
oxfordA pacificA paderbornA palaceA paleoA palmspringsA panamaA parisA pasadenaA pharmacyA philadelphiaA
philadelphiaareaA philatelyA phoenixA photographyA pilotsA pittsburghA planetariumA plantationA plantsA
plazaA portalA portlandA portlligatA posts-and-telecommunicationsA preservationA presidioA pressA projectA
publicA pubolA quebecA railroadA railwayA researchA resistanceA riodejaneiroA rochesterA rockartA romaA
russiaA saintlouisA salemA salvadordaliA salzburgA sandiegoA sanfranciscoA santabarbaraA santacruzA santafeA
saskatchewanA satxA savannahgaA schlesischesA schoenbrunnA schokoladenA schoolA schweizA scienceA
science-fictionA scienceandhistoryA scienceandindustryA sciencecenterA sciencecentersA sciencehistoryA
sciencesA sciencesnaturellesA scotlandA seaportA settlementA settlersA shellA sherbrookeA sibenikA silkA skiA
skoleA societyA sologneA soundandvisionA southcarolinaA southwestA spaceA spyA squareA stadtA stalbansA
starnbergA stateA stateofdelawareA stationA steamA steiermarkA stjohnA stockholmA stpetersburgA stuttgartA
suisseA surgeonshallA surreyA svizzeraA swedenA sydneyA tankA tcmA technologyA telekommunikationA televisionA
texasA textileA theaterA timeA timekeepingA topologyA torinoA touchA townA transportA treeA trolleyA trustA
trusteeA uhrenA ulmA underseaA universityA usaA usantiquesA usartsA uscountryestateA uscultureA
usdecorativeartsA usgardenA ushistoryA ushuaiaA uslivinghistoryA utahA uvicA valleyA vantaaA versaillesA
vikingA villageA virginiaA virtualA virtuelA vlaanderenA volkenkundeA walesA wallonieA warA washingtondcA
watch-and-clockA watchandclockA westernA westfalenA whalingA wildlifeA williamsburgA windmillA workshopA
xn--9dbhblg6diA xn--comunicaes-v6a2oA xn--correios-e-telecomunicaes-ghc29aA xn--h1aeghA xn--lns-qlaA yorkA
yorkshireA yosemiteA youthA zoologicalA zoologyA aeroA bizA comA coopA eduA govA infoA intA milA museumA
nameA netA orgA proA acA bizA coA comA coopA eduA govA intA museumA netA orgA blogspotC comA eduA gobA netA
orgA bizA blogspotC comA eduA govA milA nameA netA orgA acA advA coA eduA govA milA netA orgA caA ccA coA
comA drA inA infoA mobiA mxA nameA orA orgA proA schoolA tvA usA wsA herP2@<J0008 hisP2@=20008 assoA nomA
adobeaemcloudC adobeio-staticC adobeioruntimeC akadnsC akamaiC akamai-stagingC akamaiedgeC
akamaiedge-stagingC akamaihdC akamaihd-stagingC akamaioriginC akamaiorigin-stagingC akamaizedC
akamaized-stagingC alwaysdataC appudoC at-band-campC atlassian-devP2@=:000> azure-mobileC
azurestaticappsS2@=H001I azurewebsitesC bar0C bar1C bar2C barsyC bitbridgeC blackbaudcdnC blogdnsC boomlaC
bouncemeC bplacedC broke-itC buyshousesC casacamC cdn-edgesC cdn77P2@?A0003 cdn77-sslC channelsdvrS2@?D0003
clickrisingC cloudaccessC cloudappC cloudfrontC cloudfunctionsC cloudjiffyS2@?G000C cloudyclusterC
community-proC cryptonomicF dattolocalC ddnsC debianC definimaC dnsaliasC dnsdojoC dnsupC does-itC dontexistC
dsmynasC dynaliasC dynathomeC dynuC dynv6C eating-organicC edgeappC edgekeyC edgekey-stagingC edgesuiteC
edgesuite-stagingC elastxP2@@:000N endofinternetC familydsC fastlyP2@A80019 fastlylbS2@BA0005 faststacksC
feste-ipC firewall-gatewayC flynnhostingC from-azC from-coC from-laC from-nyC gbC gets-itC ham-radio-opC
hetemlC hicamC homeftpC homeipC homelinuxC homeunixC huC inC in-dslC in-the-bandC in-vpnC iobbC ipifonyC
is-a-chefC is-a-geekC isa-geekC jpC kicks-assC kinghostC knx-serverC krellianC massivegridP2@BF000>
meinforumC memsetC moonscaleC myamazeC mydattoC mydissentC myeffectC myfritzC mymediapcC mypsxC
mysecuritycameraC myspreadshopC nhlfanC no-ipC now-dnsC office-on-theC onavstackC ovhP2@C4000B ownipC pgafanC
podzoneC privatizehealthinsuranceC rackmazeC redirectmeC reserve-onlineC ruC saveincloudP2@CF000H
scaleforceP2@D>0003 schokokeksC scrapper-siteC seC seidatC selfipC sells-itC senseeringC servebbsC serveblogC
serveftpC serveminecraftC shopselectC siteleafC square7C srcfP2@DA000; static-accessC supabaseC sytesC
t3l3p0rtC tailscaleP2@DL0006 thruhereC torprojectS2@E20007 tsC tsukaeruP2@E9000: twmailC ukC uni5C vpndnsC
vps-hostS2@EC000B webhopC yandexcloudS2@F5000B zaC alcesF arvoC azimuthC coC tlonC noticeableC artsA comA
firmA infoA netA otherA perA recA storeA webA colC comQ2@FG000: eduA firmC genC govA iA ltdC milA mobiA nameA
netA ngoC orgA schA acA bizA coA comA eduA gobA inA infoA intA milA netA nomA orgA webA 123websiteC blogspotC
cistronC coC demonC govC hosting-clusterC khplayC myspreadshopC transurlF 123hjemmesideC aaQ2@G10004
aarborteA aejrieA afjordA agdenesA ahQ2@G50004 akershusP2@G90005 aknoluoktaA akrehamnA alA alaheadjuA
alesundA algardA alstahaugA altaA alvdalA amliA amotA andasuoloA andebuA andoyA ardalA aremarkA arendalA
arnaA aseralA askerA askimA askoyA askvollA asnesA audnedalnA aukraA aureA aurlandA aurskog-holandA
austevollA austrheimA averoyA badaddjaA bahcavuotnaA bahccavuotnaA baidarA bajddarA balatA balestrandA
ballangenA balsfjordA bambleA barduA barumA batsfjordA bearalvahkiA bearduA beiarnA bergA bergenA berlevagA
bievatA bindalA birkenesA bjarkoyA bjerkreimA bjugnA blogspotC bodoA boknA bomloA bremangerA bronnoyA
bronnoysundA brumunddalA bryneA buQ2@G>0004 budejjuA buskerudP2@GB0005 byglandA bykleA cahcesuoloA coC
davvenjargaA davvesiidaA deatnuA depA dielddanuorriA divtasvuodnaA divttasvuotnaA donnaA dovreA drammenA
drangedalA drobakA dyroyA egersundA eidA eidfjordA eidsbergA eidskogA eidsvollA eigersundA elverumA enebakkA
engerdalA etneA etnedalA evenassiA evenesA evje-og-hornnesA farsundA fauskeA fedjeA fetA fetsundA fhsA
finnoyA fitjarA fjalerA fjellA flaA flakstadA flatangerA flekkefjordA flesbergA floraA floroA fmQ2@GG0004
folkebiblA folldalA fordeA forsandA fosnesA franaA fredrikstadA freiA frognA frolandA frostaA froyaA fuoiskuA
fuosskoA fusaA fylkesbiblA fyresdalA gaivuotnaA galsaA gamvikA gangaviikaA gaularA gausdalA giehtavuoatnaA
gildeskalA giskeA gjemnesA gjerdrumA gjerstadA gjesdalA gjovikA gloppenA golA granA graneA granvinA
gratangenA grimstadA grongA grueA gulenA guovdageaidnuA haA habmerA hadselA hagebostadA haldenA halsaA hamarA
hamaroyA hammarfeastaA hammerfestA hapmirA haramA hareidA harstadA hasvikA hattfjelldalA haugesundA
hedmarkP2@GK000I hemneA hemnesA hemsedalA heradA hitraA hjartdalA hjelmelandA hlQ2@HD0004 hmQ2@HH0004 hobolA
hofA hokksundA holA holeA holmestrandA holtalenA honefossA hordalandP2@HL0004 hornindalA hortenA hoyangerA
hoylandetA hurdalA hurumA hvalerA hyllestadA ibestadA idrettA inderoyA ivelandA ivguA jan-mayenQ2@I00004
jessheimA jevnakerA jolsterA jondalA jorpelandA kafjordA karasjohkaA karasjokA karlsoyA karmoyA kautokeinoA
kirkenesA klabuA kleppA kommuneA kongsbergA kongsvingerA kopervikA kraanghkeA krageroA kristiansandA
kristiansundA krodsheradA krokstadelvaA kvafjordA kvalsundA kvamA kvanangenA kvinesdalA kvinnheradA
kviteseidA kvitsoyA laakesvuemieA lahppiA langevagA lardalA larvikA lavagisA lavangenA leangaviikaA lebesbyA
leikangerA leirfjordA leirvikA lekaA leksvikA lenvikA lerdalA lesjaA levangerA lierA lierneA lillehammerA
lillesandA lindasA lindesnesA loabatA lodingenA lomA loppaA lorenskogA lotenA lundA lunnerA luroyA lusterA
lyngdalA lyngenA malatvuopmiA malselvA malvikA mandalA markerA marnardalA masfjordenA masoyA matta-varjjatA
melandA meldalA melhusA meloyA merakerA midsundA midtre-gauldalA milA mjondalenA mo-i-ranaA moarekeA modalenA
modumA moldeA more-og-romsdalP2@I4000> mosjoenA moskenesA mossA mosvikA mrQ2@IB0004 muosatA museumA
myspreadshopC naamesjevuemieA namdalseidA namsosA namsskoganA nannestadA naroyA narviikaA narvikA naustdalA
navuotnaA nedre-eikerA nesnaA nesoddenA nesoddtangenA nessebyA nessetA nissedalA nittedalA nlQ2@IF0004
nord-aurdalA nord-fronA nord-odalA norddalA nordkappA nordlandP2@IJ0014 nordre-landA nordreisaA
nore-og-uvdalA notoddenA notteroyA ntQ2@JN0004 oddaA ofQ2@K20004 oksnesA olQ2@K60004 omasvuotnaA oppdalA
oppegardA orkangerA orkdalA orlandA orskogA orstaA osenA osloQ2@K:0004 osoyroA osteroyA ostfoldP2@K>0007
ostre-totenA overhallaA ovre-eikerA oyerA oygardenA oystre-slidreA porsangerA porsanguA porsgrunnA privA
radeA radoyA rahkkeravjuA raholtA raisaA rakkestadA ralingenA ranaA randabergA raumaA rendalenA rennebuA
rennesoyA rindalA ringebuA ringerikeA ringsakerA risorA rissaA rlQ2@KE0004 roanA rodoyA rollagA romsaA
romskogA rorosA rostA roykenA royrvikA ruovatA ryggeA salangenA salatA saltdalA samnangerA sandefjordA
sandnesA sandnessjoenA sandoyA sarpsborgA saudaA sauheradA selA selbuA seljeA seljordA sfQ2@KI0004 siellakA
sigdalA siljanA sirdalA skanitA skanlandA skaunA skedsmoA skedsmokorsetA skiA skienA skiervaA skiptvetA
skjakA skjervoyA skodjeA slattumA smolaA snaaseA snasaA snillfjordA snoasaA sogndalA sogneA sokndalA solaA
solundA somnaA sondre-landA songdalenA sor-aurdalA sor-fronA sor-odalA sor-varangerA sorfoldA sorreisaA
sortlandA sorumA spjelkavikA spydebergA stQ2@KM0004 stangeA statA stathelleA stavangerA stavernA steigenA
steinkjerA stjordalA stjordalshalsenA stokkeA stor-elvdalA stordA stordalA storfjordA strandA strandaA strynA
sulaA suldalA sundA sunndalA surnadalA svalbardQ2@L10004 sveioA svelvikA sykkylvenA tanaA tanangerA
telemarkP2@L5000? timeA tingvollA tinnA tjeldsundA tjomeA tmQ2@LD0004 tokkeA tolgaA tonsbergA torskenA
trQ2@LH0004 tranaA tranbyA tranoyA troandinA trogstadA tromsaA tromsoA trondheimA trysilA tvedestrandA tydalA
tynsetA tysfjordA tysnesA tysvarA ullensakerA ullensvangA ulvikA unjargaA utsiraA vaQ2@LL0004 vaapsteA vadsoA
vagaA vaganA vagsoyA vaksdalA valleA vangA vanylvenA vardoA varggatA varoyA vefsnA vegaA vegarsheiA venneslaA
verdalA verranA vestbyA vestfoldP2@M00007 vestnesA vestre-slidreA vestre-totenA vestvagoyA vevelstadA
vfQ2@M70004 vgsA vikA viknaA vindafjordA voagatA voldaA vossA vossevangenA xn--andy-iraA xn--asky-iraA
xn--aurskog-hland-jnbA xn--avery-yuaA xn--bdddj-mrabdA xn--bearalvhki-y4aA xn--berlevg-jxaA
xn--bhcavuotna-s4aA xn--bhccavuotna-k7aA xn--bidr-5nacA xn--bievt-0qaA xn--bjarky-fyaA xn--bjddar-ptaA
xn--blt-elabA xn--bmlo-graA xn--bod-2naA xn--brnny-wuacA xn--brnnysund-m8acA xn--brum-voaA xn--btsfjord-9zaA
xn--davvenjrga-y4aA xn--dnna-graA xn--drbak-wuaA xn--dyry-iraA xn--eveni-0qa01gaA xn--finny-yuaA
xn--fjord-lraA xn--fl-ziaA xn--flor-jraA xn--frde-graA xn--frna-woaA xn--frya-hraA xn--ggaviika-8ya47hA
xn--gildeskl-g0aA xn--givuotna-8yaA xn--gjvik-wuaA xn--gls-elacA xn--h-2faA xn--hbmer-xqaA
xn--hcesuolo-7ya35bA xn--hgebostad-g3aA xn--hmmrfeasta-s4acA xn--hnefoss-q1aA xn--hobl-iraA xn--holtlen-hxaA
xn--hpmir-xqaA xn--hyanger-q1aA xn--hylandet-54aA xn--indery-fyaA xn--jlster-byaA xn--jrpeland-54aA
xn--karmy-yuaA xn--kfjord-iuaA xn--klbu-woaA xn--koluokta-7ya57hA xn--krager-gyaA xn--kranghke-b0aA
xn--krdsherad-m8aA xn--krehamn-dxaA xn--krjohka-hwab49jA xn--ksnes-uuaA xn--kvfjord-nxaA xn--kvitsy-fyaA
xn--kvnangen-k0aA xn--l-1faA xn--laheadju-7yaA xn--langevg-jxaA xn--ldingen-q1aA xn--leagaviika-52bA
xn--lesund-huaA xn--lgrd-poacA xn--lhppi-xqaA xn--linds-praA xn--loabt-0qaA xn--lrdal-sraA xn--lrenskog-54aA
xn--lt-liacA xn--lten-graA xn--lury-iraA xn--mely-iraA xn--merker-kuaA xn--mjndalen-64aA xn--mlatvuopmi-s4aA
xn--mli-tlaA xn--mlselv-iuaA xn--moreke-juaA xn--mosjen-eyaA xn--mot-tlaA xn--mre-og-romsdal-qqbP2@M;000E
xn--msy-ula0hA xn--mtta-vrjjat-k7afA xn--muost-0qaA xn--nmesjevuemie-tcbaA xn--nry-yla5gA xn--nttery-byaeA
xn--nvuotna-hwaA xn--oppegrd-ixaA xn--ostery-fyaA xn--osyro-wuaA xn--porsgu-sta26fA xn--rady-iraA
xn--rdal-poaA xn--rde-ulaA xn--rdy-0nabA xn--rennesy-v1aA xn--rhkkervju-01afA xn--rholt-mraA xn--risa-5naA
xn--risr-iraA xn--rland-uuaA xn--rlingen-mxaA xn--rmskog-byaA xn--rros-graA xn--rskog-uuaA xn--rst-0naA
xn--rsta-fraA xn--ryken-vuaA xn--ryrvik-byaA xn--s-1faA xn--sandnessjen-ogbA xn--sandy-yuaA xn--seral-lraA
xn--sgne-graA xn--skierv-utaA xn--skjervy-v1aA xn--skjk-soaA xn--sknit-yqaA xn--sknland-fxaA xn--slat-5naA
xn--slt-elabA xn--smla-hraA xn--smna-graA xn--snase-nraA xn--sndre-land-0cbA xn--snes-poaA xn--snsa-roaA
xn--sr-aurdal-l8aA xn--sr-fron-q1aA xn--sr-odal-q1aA xn--sr-varanger-ggbA xn--srfold-byaA xn--srreisa-q1aA
xn--srum-graA xn--stfold-9xaP2@N0000> xn--stjrdal-s1aA xn--stjrdalshalsen-sqbA xn--stre-toten-zcbA
xn--tjme-hraA xn--tnsberg-q1aA xn--trany-yuaA xn--trgstad-r1aA xn--trna-woaA xn--troms-zuaA xn--tysvr-vraA
xn--unjrga-rtaA xn--vads-jraA xn--vard-jraA xn--vegrshei-c0aA xn--vestvgy-ixa6oA xn--vg-yiabA xn--vgan-qoaA
xn--vgsy-qoa0jA xn--vre-eiker-k8aA xn--vrggt-xqadA xn--vry-yla5gA xn--yer-znaA xn--ygarden-p1aA
xn--ystre-slidre-ujbA bizA comA eduA govA infoA netA orgA enterprisecloudC merseineC mineC shacknetC acA
coQ2@N>000: criA geekA genA govtA healthA iwiA kiwiA maoriA milA netA orgA parliamentA schoolA xn--mori-qsaA
coA comA eduA govA medA museumA netA orgA proA homelinkC onredS2@NH0009 serviceC barsyC eeroC eero-stageC
techC accesscamC aeC altervistaC amuneP2@O10006 barsyC blogdnsC blogsiteC bmoattachmentsC boldlygoingnowhereC
cable-modemC camdvrC cdn77P2@O70008 cdn77-secureP2@O?000@ certmgrC cloudnsC collegefanC couchpotatofriesC
ddnssC diskstationC dnsaliasC dnsdojoC doesntexistC dontexistC doomdnsC dsmynasC duckdnsC dvrdnsC dynaliasC
dyndnsS2@OO000: dynservC endofinternetC endoftheinternetC euS2A090075 familydsC fedorainfracloudC
fedorapeopleC fedoraprojectP2A7>0010 freeddnsC freedesktopC from-meC game-hostC gotdnsC hepforgeC hkC
hobby-siteC homednsC homeftpC homelinuxC homeunixC hoptoC httpbinC in-dslC in-vpnC is-a-bruinsfanC
is-a-candidateC is-a-celticsfanC is-a-chefC is-a-geekC is-a-knightC is-a-linux-userC is-a-patsfanC
is-a-soxfanC is-foundC is-lostC is-savedC is-very-badC is-very-evilC is-very-goodC is-very-niceC
is-very-sweetC isa-geekC jsC kicks-assC mayfirstC misconfusedC mlbfanC mozilla-iotC my-firewallC myfirewallC
myftpC mysecuritycameraC mywireC nflfanC no-ipC now-dnsC pimientaC podzoneC poivronC potagerC pubtlsC
read-booksC readmyblogC selfipC sellsyourhomeC servebbsC serveftpC servegameC small-webC spdnsC stuff-4-saleC
sweetpepperC teckidsP2A8>0004 toolforgeC tunkC tuxfamilyC twmailC ufcfanC usC webhopC webredirectC wmcloudC
wmflabsC zaC zaptoC nerdpolC aboA acA comA eduA gobA ingA medA netA nomA orgA sldA codebergC hlxC hlx3C
magnetC pdnsC pleskC prvcyC rockyC translatedC yboC blogspotC comA eduA gobA milA netA nomA orgA comA eduA
orgA comA eduA govA iA milA netA ngoA orgA framerC 1337C bizA comA eduA famA gobA gokA gonA gopA gosA govA
infoA netA orgA webA agroA aidA artC atmA augustowA autoA babia-goraA bedzinA beepC beskidyA bialowiezaA
bialystokA bielawaA bieszczadyA bizA boleslawiecA bydgoszczA bytomA cieszynA coC comA czeladzA czestA
dlugolekaA ecommerce-shopC eduA elblagA elkA gdaC gdanskC gdyniaC gliwiceC glogowA gminaA gnieznoA gorliceA
govQ2A8B0080 grajewoA gsmA homesklepC ilawaA infoA jaworznoA jelenia-goraA jgoraA kaliszA karpaczA kartuzyA
kaszubyA katowiceA kazimierz-dolnyA kepnoA ketrzynA klodzkoA kobierzyceA kolobrzegA koninA konskowolaA
krakowC krasnikC kutnoA lapyA leborkA lecznaC legnicaA lezajskA limanowaA lomzaA lowiczA lubartowC lubinA
lublinC lukowA mailA malborkA malopolskaA mazowszeA mazuryA medC mediaA miastaA mielecA mielnoA milA mragowoA
myspreadshopC nakloA netA nieruchomosciA nomA nowarudaA nysaA olawaA oleckoA olkuszA olsztynA opocznoA opoleA
orgA ostrodaA ostrolekaA ostrowiecA ostrowwlkpA pcA pilaA piszA podhaleA podlasieA polkowiceA pomorskieA
pomorzeA poniatowaC powiatA poznanC privA prochowiceA pruszkowA przeworskA pulawyA radomA rawa-mazA
realestateA relA rybnikA rzeszowA sanokA sdscloudC sejnyA sexA shopA shoparenaC simplesiteC sklepA skoczowA
slaskA slupskA sopotC sosA sosnowiecA stalowa-wolaA starachowiceA stargardA suwalkiA swidnicaA swidnikC
swiebodzinA swinoujscieA szczecinA szczytnoA szkolaA targiA tarnobrzegA tgoryA tmA tourismA travelA turekA
turystykaA tychyA unicloudC ustkaA walbrzychA warmiaA warszawaA wawA wegrowA wielunA wloclA wloclawekA
wodzislawA wolominA wrocC wroclawA zachpomorA zaganA zakopaneC zarowA zgoraA zgorzelecA coC nameC ownC coA
eduA govA netA orgA indieC acA bizA comA eduA estA govA infoA islaA nameA netA orgA proA profA aaaA acaA
acctA avocatA barA barsyC cloudnsC cpaA dnstraceP2A@B0005 engA jurA lawA medA rechtA comA eduA govA netA orgA
ploA secA 123paginawebC blogspotC comA eduA govA intA netA nomeA orgA publA barsyC belauA cloudnsC coA edA
goA neA orA x443C comA coopA eduA govA milA netA orgA blogspotC comA eduA govA milA nameA netA orgA schA
assoA blogspotC comA nomA yboC clanC artsA barsyC blogspotC coC comA firmA infoA nomA ntA orgA recA shopC
storeA tmA wwwA lima-cityC myddnsC webspaceC acA blogspotC brendlyP2A@G0006 coA eduA govA inA orgA oxC uaC
123saitC acC adygeyaC bashkiriaC birC blogspotC cbgC cldmailP2A@M0004 comC dagestanC eduC eurodirC govC
groznyC intC kalmykiaC kustanaiC lk3C marineC mcdirS2AA10005 mcpreC milC mircloudC mordoviaC mskC
myjinoS2AA60011 mytisC na4uC nalchikC netC novC orgC ppC pyatigorskC rasC regruhostingP2AB7000: spbC testC
vladikavkazC vladimirC buildF codeF databaseF developmentC hsC migrationF onporterC ravendbC replC serversC
acA coA coopA govA milA netA orgA comA eduA govA medA netA orgA pubA schA comA eduA govA netA orgA comA eduA
govA netA orgA yboC eduC govS2ABA0009 comA eduA govA infoA medA netA orgA tvA 123minsidaC aA acA bA bdA
blogspotC brandA cA comC confC dA eA fA fhA fhskA fhvA gA hA iA iopsysC itcouldbeworC kA komforbA
kommunalforbundA komvuxA lA lanbibA mA myspreadshopC nA naturbruksgymnA oA orgA pA pabaP2ABJ0004 partiA ppA
pressA rA sA tA tmA uA wA xA yA zA loginlineC blogspotC comA eduA enscaledC govA netA orgA perA bipC comA
govA hashbangC milA netA nowC orgA platformP2ABN000A vxlC wedeployC barsyC baseC hoplixC blogspotC gitappC
gitpageC barsyC byenC clouderaF cyonC fastvpsC fnwkC folionetworkC jeleC leluxC loginlineC mintereC novecoreC
omniweC opensocialC platformshF srhtC tstF blogspotC comA eduA govA netA orgA artA blogspotC comA eduA gouvA
orgA persoA univA comA eduA govA meA netA orgA schC diherF myfastC uberC xs4allC bizA comA eduA govA meA netA
orgA schA coA comA consuladoA eduA embaixadaA milA netA nohoC orgA principeA saotomeA storeA sellfyC
shopwareC storebaseC abkhaziaC adygeyaC aktyubinskC arkhangelskC armeniaC ashgabadC azerbaijanC balashovC
bashkiriaC bryanskC bukharaC chimkentC dagestanC east-kazakhstanC exnetC georgiaC groznyC ivanovoC jambylC
kalmykiaC kalugaC karacolC karagandaC kareliaC khakassiaC krasnodarC kurganC kustanaiC lenugC mangyshlakC
mordoviaC mskC murmanskC nalchikC navoiC north-kazakhstanC novC obninskC penzaC pokrovskC sochiC spbC
tashkentC termezC togliattiC troitskC tselinogradC tulaC tuvaC vladikavkazC vladimirC vologdaC barsyC comA
eduA gobA orgA redA govA comA eduA govA milA netA orgA knightpointC acA coA orgA chC meC weC blogspotC
discourseC jelasticC coC schC acA coA goA inA miA netA onlineC orA shopC acA bizA coA comA eduA goA govA intA
milA nameA netA nicA orgA testA webA govA coA comA eduA govA milA netA nomA orgA comA ensA finA govA indA
infoA intlA mincomA natA netA orangecloudC orgA persoA tourismA 611C comA eduA govA milA netA nyanC orgA oyaC
quickconnectP2AC?0008 rdvC vpnplusC prequalifymeC now-dnsC ntdllC avA bbsA belA bizA comQ2ACG000: drA eduA
genA govA infoA k12A kepA milA nameA ncQ2AD10005 netA orgA polA telA tskA tvA webA yboC aeroA bizA coA comA
coopA eduA govA infoA intA jobsA mobiA museumA nameA netA orgA proA travelA better-thanC dyndnsC on-the-webC
worse-thanC blogspotC clubA comQ2AD6000: ebizA eduA gameA govA idvA milA netA orgA urlC xn--czrw28bA
xn--uc0atvA xn--zf0ao64aA acA coA goA hotelA infoA meA milA mobiA neA orA scA tvA bizC ccC cherkassyA
cherkasyA chernigovA chernihivA chernivtsiA chernovtsyA ckA cnA coC comA crA crimeaA cvA cxC dnA
dnepropetrovskA dnipropetrovskA donetskA dpA eduA govA ifA inA infC ivano-frankivskA khA kharkivA kharkovA
khersonA khmelnitskiyA khmelnytskyiA kievA kirovogradA kmA krA krymA ksA kvA kyivA lgA ltA ltdC luganskA
lutskA lvA lvivA mkA mykolaivA netA nikolaevA odA odesaA odessaA orgA plA poltavaA ppC rivneA rovnoA rvA sbA
sebastopolA sevastopolA smA sumyA teA ternopilA uzA uzhgorodA vC vinnicaA vinnytsiaA vnA volynA yaltaA
zaporizhzheA zaporizhzhiaA zhitomirA zhytomyrA zpA ztA acA blogspotC coA comA goA neA orA orgA scA acA barsyC
coQ2AD@004; connC coproC govQ2AHK0014 hospC independent-commissionC independent-inquestC independent-inquiryC
independent-panelC independent-reviewC ltdA meA netA nhsA orgQ2AIO001N plcA policeA public-inquiryC pymntC
royal-commissionC schD akQ2AKM000> alQ2AL;000> arQ2ALI000> asQ2AM7000> azQ2AME000> caQ2AN3000> cloudnsC
coQ2ANA000> ctQ2ANO000> dcQ2AO=000> deQ2AOK000> dniA drudC enscaledP2B090005 fedA flQ2B0>000> freeddnsC
gaQ2B0L000> golffanC graphoxC guQ2B1:000> hiQ2B1H0009 iaQ2B21000> idQ2B2?000> ilQ2B2M000> inQ2B3;000> is-byC
isaA kidsA ksQ2B3I000> kyQ2B47000> laQ2B4E000> land-4-saleC maQ2B53000F mdQ2B5I000> meQ2B67000> miQ2B6E0024
mircloudC mnQ2B8I000> moQ2B97000> msQ2B9E000> mtQ2B:3000> ncQ2B:A000> ndQ2B:O0009 neQ2B;8000> nhQ2B;F000>
njQ2B<4000> nmQ2B<B000> noipC nsnA nvQ2B=0000> nyQ2B=>000> ohQ2B=L000> okQ2B>:000> orQ2B>H000> paQ2B?6000>
platterpC pointtoC prQ2B?D000> riQ2B@20009 scQ2B@;000> sdQ2B@I0009 stuff-4-saleC tnQ2BA2000> txQ2BA@000>
utQ2BAN000> vaQ2BB<000> viQ2BBJ000> vtQ2BC8000> waQ2BCF000> wiQ2BD4000> wvQ2BDB0004 wyQ2BDF000> comQ2BE4000:
eduA gubA milA netA orgA coA comA netA orgA 0eC comA eduA govA gvS2BE>0003 milA netA orgA artsA bibA coA comA
e12A eduA firmA gobA govA infoA intA milA netA nomA orgA rarA recA storeA tecA webA atC coA comA k12A netA
orgA acA bizA blogspotC comA eduA govA healthA infoA intA nameA netA orgA proA blogC cnC comA devC eduA meC
netA orgA framerC bizC schC framerC advisorF cloud66C comA dyndnsC eduA govA mypetsC netA orgA xn--4dbgdty6cA
xn--5dbhl8dA xn--8dbq2aA xn--hebda8bA xn--80auA xn--90azhA xn--c1avgA xn--d1atA xn--o1acA xn--o1achA
xn--55qx5dA xn--gmqw5aA xn--mxtq1mA xn--od0algA xn--uc0atvA xn--wcvs22dA xn--12c1fe0brA xn--12cfi8ixb8lA
xn--12co0c3b4evaA xn--h3cuzk1diA xn--m3ch0j3aA xn--o3cyx2aA xn--41aC xn--80aaa0cvacC xn--90a1afC xn--90amcC
xn--c1avgC xn--h1ahnC xn--h1alizC xn--j1adpC xn--j1aefC xn--j1ael8bC blogsiteC craftingC localzoneC telebitF
zaptoC comA eduA govA milA netA orgA orgC acA agricA altA coQ2BEA000: eduA govA grondarA lawA milA netA ngoA
nicA nisA nomA orgA schoolA tmA webA acA bizA coA comA eduA govA infoA milA netA orgA schA cloud66C hsC limaC
tritonF acA coA govA milA orgA aC privatelinkC blogspotC sthA blogspotC wienC exF inF exF kundenF blogspotC
cloudletsP2BEK0005 myspreadshopC actA catholicA nswQ2BF00009 ntA qldA saA tasA vicA waA qldA saA tasA vicA
waA cloudC ezproxyC blogspotC simplesiteC virtualcloudP2BF9000? acA alA amA apA baA ceA dfA esA goA maA mgA
msA mtA paA pbA peA piA prA rjA rnA roA rrA rsA scA seA spA toA acC alC amC apC baC ceC dfC esC goC maC mgC
msC mtC paC pbC peC piC prC rjC rnC roC rrC rsC scC seC spC toC blogspotC uiC instancesC svcF aeP2BFH0006
appengineC es-1C euC vipC arubaP2BFN000= it1C csC tnC ukC ukC caC ukC usC baremetalP2BG;000N fr-parP2BH9001?
instancesP2BIH000; k8sC nl-amsP2BJ30012 pl-wawP2BK5000M scalebookC smartlabelingC chC deC amazonawsP2BL2001>
directC blogspotC idC idC devF af-south-1P2BM@000@ ap-east-1P2BN0000@ ap-northeast-1P2BN@0013
ap-northeast-2P2BOC001C ap-northeast-3P2C16000@ ap-south-1P2C1F001C ap-southeast-1P2C390013
ap-southeast-2P2C4<0013 ca-central-1P2C5?001C computeF compute-1F elbF eu-central-1P2C72001C
eu-north-1P2C8E000@ eu-south-1P2C95000@ eu-west-1P2C9E0013 eu-west-2P2C:H001C eu-west-3P2C<;001C
me-south-1P2C=N000@ s3C s3-ap-northeast-1C s3-ap-northeast-2C s3-ap-south-1C s3-ap-southeast-1C
s3-ap-southeast-2C s3-ca-central-1C s3-eu-central-1C s3-eu-west-1C s3-eu-west-2C s3-eu-west-3C s3-external-1C
s3-fips-us-gov-west-1C s3-sa-east-1C s3-us-east-2C s3-us-gov-west-1C s3-us-west-1C s3-us-west-2C
s3-website-ap-northeast-1C s3-website-ap-southeast-1C s3-website-ap-southeast-2C s3-website-eu-west-1C
s3-website-sa-east-1C s3-website-us-east-1C s3-website-us-west-1C s3-website-us-west-2C sa-east-1P2C>>0013
us-east-1S2C?A0013 us-east-2P2C@D001C us-west-1P2CB7000@ us-west-2P2CBG000@ rF alphaC betaC builderF
dev-builderF stg-builderF ociF ocpF ocsF demoC instanceC ap-northeast-1C ap-northeast-2C ap-northeast-3C
ap-south-1C ap-southeast-1C ap-southeast-2C ca-central-1C eu-central-1C eu-west-1C eu-west-2C eu-west-3C
sa-east-1C us-east-1C us-east-2C us-gov-west-1C us-west-1C us-west-2C eu-1C eu-2C eu-3C eu-4C us-1C us-2C
us-3C us-4C appsC paasC rag-cloudC rag-cloud-chC jcloudC jcloud-ver-jpcC demoC cnsF membersC nodebalancerF
ipC appC paasC euC caracalC customerC fentigerC lynxC ocelotC oncillaC onzaC sphinxC vsC xC yaliC cloudC
staticC xenC euC appC apiC siteC proC jedC lonC rydC pagesC jsC u2C u2-localC blogspotC scaleforceP2CC70003
cloudF customC cloudP2CC:000: dynC dynC dyndnsC dynC itP2CCD0007 customerC userF londonC bzzF git-pagesC
blogspotC blogspotC blogspotC jelasticC userC fiC demoC paasC daemonC blogspotC rssF blogspotC mytabitC
ravpageC tabitorderC ltdA plcA appC backyardsF paasC sekd1C uk0C dyndnsC idC appsC stageC mockC sysF devicesC
devP2CCK000? disrecP2CD:000? prodP2CDI0006 testingP2CDO000? cloud-fr1C gC jcC openP2CE>000B aisaiA amaA anjoA
asukeA chiryuA chitaA fusoA gamagoriA handaA hazuA hekinanA higashiuraA ichinomiyaA inazawaA inuyamaA
isshikiA iwakuraA kanieA kariyaA kasugaiA kiraA kiyosuA komakiA konanA kotaA mihamaA miyoshiA nishioA
nisshinA obuA oguchiA oharuA okazakiA owariasahiA setoA shikatsuA shinshiroA shitaraA taharaA takahamaA
tobishimaA toeiA togoA tokaiA tokonameA toyoakeA toyohashiA toyokawaA toyoneA toyotaA tsushimaA yatomiA
akitaA daisenA fujisatoA gojomeA hachirogataA happouA higashinaruseA honjoA honjyoA ikawaA kamikoaniA
kamiokaA katagamiA kazunoA kitaakitaA kosakaA kyowaA misatoA mitaneA moriyoshiA nikahoA noshiroA odateA ogaA
ogataA sembokuA yokoteA yurihonjoA aomoriA gonoheA hachinoheA hashikamiA hiranaiA hirosakiA itayanagiA
kuroishiA misawaA mutsuA nakadomariA nohejiA oiraseA owaniA rokunoheA sannoheA shichinoheA shingoA takkoA
towadaA tsugaruA tsurutaA abikoA asahiA chonanA choseiA choshiA chuoA funabashiA futtsuA hanamigawaA
ichiharaA ichikawaA ichinomiyaA inzaiA isumiA kamagayaA kamogawaA kashiwaA katoriA katsuuraA kimitsuA
kisarazuA kozakiA kujukuriA kyonanA matsudoA midoriA mihamaA minamibosoA mobaraA mutsuzawaA nagaraA
nagareyamaA narashinoA naritaA nodaA oamishirasatoA omigawaA onjukuA otakiA sakaeA sakuraA shimofusaA
shirakoA shiroiA shisuiA sodegauraA sosaA takoA tateyamaA toganeA tohnoshoA tomisatoA urayasuA yachimataA
yachiyoA yokaichibaA yokoshibahikariA yotsukaidoA ainanA honaiA ikataA imabariA iyoA kamijimaA kihokuA
kumakogenA masakiA matsunoA matsuyamaA namikataA niihamaA ozuA saijoA seiyoA shikokuchuoA tobeA toonA uchikoA
uwajimaA yawatahamaA echizenA eiheijiA fukuiA ikedaA katsuyamaA mihamaA minamiechizenA obamaA ohiA onoA
sabaeA sakaiA takahamaA tsurugaA wakasaA ashiyaA buzenA chikugoA chikuhoA chikujoA chikushinoA chikuzenA
chuoA dazaifuA fukuchiA hakataA higashiA hirokawaA hisayamaA iizukaA inatsukiA kahoA kasugaA kasuyaA kawaraA
keisenA kogaA kurateA kurogiA kurumeA minamiA miyakoA miyamaA miyawakaA mizumakiA munakataA nakagawaA nakamaA
nishiA nogataA ogoriA okagakiA okawaA okiA omutaA ongaA onojoA otoA saigawaA sasaguriA shinguA shinyoshitomiA
shonaiA soedaA sueA tachiaraiA tagawaA takataA tohoA toyotsuA tsuikiA ukihaA umiA usuiA yamadaA yameA
yanagawaA yukuhashiA aizubangeA aizumisatoA aizuwakamatsuA asakawaA bandaiA dateA fukushimaA furudonoA
futabaA hanawaA higashiA hirataA hironoA iitateA inawashiroA ishikawaA iwakiA izumizakiA kagamiishiA
kaneyamaA kawamataA kitakataA kitashiobaraA kooriA koriyamaA kunimiA miharuA mishimaA namieA nangoA
nishiaizuA nishigoA okumaA omotegoA onoA otamaA samegawaA shimogoA shirakawaA showaA somaA sukagawaA taishinA
tamakawaA tanaguraA teneiA yabukiA yamatoA yamatsuriA yanaizuA yugawaA anpachiA enaA gifuA ginanA godoA gujoA
hashimaA hichisoA hidaA higashishirakawaA ibigawaA ikedaA kakamigaharaA kaniA kasaharaA kasamatsuA kawaueA
kitagataA minoA minokamoA mitakeA mizunamiA motosuA nakatsugawaA ogakiA sakahogiA sekiA sekigaharaA
shirakawaA tajimiA takayamaA taruiA tokiA tomikaA wanouchiA yamagataA yaotsuA yoroA annakaA chiyodaA fujiokaA
higashiagatsumaA isesakiA itakuraA kannaA kanraA katashinaA kawabaA kiryuA kusatsuA maebashiA meiwaA midoriA
minakamiA naganoharaA nakanojoA nanmokuA numataA oizumiA oraA otaA shibukawaA shimonitaA shintoA showaA
takasakiA takayamaA tamamuraA tatebayashiA tomiokaA tsukiyonoA tsumagoiA uenoA yoshiokaA asaminamiA daiwaA
etajimaA fuchuA fukuyamaA hatsukaichiA higashihiroshimaA hongoA jinsekikogenA kaitaA kuiA kumanoA kureA
miharaA miyoshiA nakaA onomichiA osakikamijimaA otakeA sakaA seraA seranishiA shinichiA shobaraA takeharaA
abashiriA abiraA aibetsuA akabiraA akkeshiA asahikawaA ashibetsuA ashoroA assabuA atsumaA bibaiA bieiA
bifukaA bihoroA biratoriA chippubetsuA chitoseA dateA ebetsuA embetsuA eniwaA erimoA esanA esashiA fukagawaA
fukushimaA furanoA furubiraA haboroA hakodateA hamatonbetsuA hidakaA higashikaguraA higashikawaA hirooA
hokuryuA hokutoA honbetsuA horokanaiA horonobeA ikedaA imakaneA ishikariA iwamizawaA iwanaiA kamifuranoA
kamikawaA kamishihoroA kamisunagawaA kamoenaiA kayabeA kembuchiA kikonaiA kimobetsuA kitahiroshimaA kitamiA
kiyosatoA koshimizuA kunneppuA kuriyamaA kuromatsunaiA kushiroA kutchanA kyowaA mashikeA matsumaeA mikasaA
minamifuranoA mombetsuA moseushiA mukawaA muroranA naieA nakagawaA nakasatsunaiA nakatombetsuA nanaeA
nanporoA nayoroA nemuroA niikappuA nikiA nishiokoppeA noboribetsuA numataA obihiroA obiraA oketoA okoppeA
otaruA otobeA otofukeA otoineppuA oumuA ozoraA pippuA rankoshiA rebunA rikubetsuA rishiriA rishirifujiA
saromaA sarufutsuA shakotanA shariA shibechaA shibetsuA shikabeA shikaoiA shimamakiA shimizuA shimokawaA
shinshinotsuA shintokuA shiranukaA shiraoiA shiriuchiA sobetsuA sunagawaA taikiA takasuA takikawaA takinoueA
teshikagaA tobetsuA tohmaA tomakomaiA tomariA toyaA toyakoA toyotomiA toyouraA tsubetsuA tsukigataA urakawaA
urausuA uryuA utashinaiA wakkanaiA wassamuA yakumoA yoichiA aioiA akashiA akoA amagasakiA aogakiA asagoA
ashiyaA awajiA fukusakiA goshikiA harimaA himejiA ichikawaA inagawaA itamiA kakogawaA kamigoriA kamikawaA
kasaiA kasugaA kawanishiA mikiA minamiawajiA nishinomiyaA nishiwakiA onoA sandaA sannanA sasayamaA sayoA
shinguA shinonsenA shisoA sumotoA taishiA takaA takarazukaA takasagoA takinoA tambaA tatsunoA toyookaA yabuA
yashiroA yokaA yokawaA amiA asahiA bandoA chikuseiA daigoA fujishiroA hitachiA hitachinakaA hitachiomiyaA
hitachiotaA ibarakiA inaA inashikiA itakoA iwamaA josoA kamisuA kasamaA kashimaA kasumigauraA kogaA mihoA
mitoA moriyaA nakaA namegataA oaraiA ogawaA omitamaA ryugasakiA sakaiA sakuragawaA shimodateA shimotsumaA
shirosatoA sowaA suifuA takahagiA tamatsukuriA tokaiA tomobeA toneA torideA tsuchiuraA tsukubaA uchiharaA
ushikuA yachiyoA yamagataA yawaraA yukiA anamizuA hakuiA hakusanA kagaA kahokuA kanazawaA kawakitaA komatsuA
nakanotoA nanaoA nomiA nonoichiA notoA shikaA suzuA tsubataA tsurugiA uchinadaA wajimaA fudaiA fujisawaA
hanamakiA hiraizumiA hironoA ichinoheA ichinosekiA iwaizumiA iwateA jobojiA kamaishiA kanegasakiA karumaiA
kawaiA kitakamiA kujiA kunoheA kuzumakiA miyakoA mizusawaA moriokaA ninoheA nodaA ofunatoA oshuA otsuchiA
rikuzentakataA shiwaA shizukuishiA sumitaA tanohataA tonoA yahabaA yamadaA ayagawaA higashikagawaA kanonjiA
kotohiraA mannoA marugameA mitoyoA naoshimaA sanukiA tadotsuA takamatsuA tonoshoA uchinomiA utazuA zentsujiA
akuneA amamiA hiokiA isaA isenA izumiA kagoshimaA kanoyaA kawanabeA kinkoA kouyamaA makurazakiA matsumotoA
minamitaneA nakataneA nishinoomoteA satsumasendaiA sooA tarumizuA yusuiA aikawaA atsugiA ayaseA chigasakiA
ebinaA fujisawaA hadanoA hakoneA hiratsukaA iseharaA kaiseiA kamakuraA kiyokawaA matsudaA minamiashigaraA
miuraA nakaiA ninomiyaA odawaraA oiA oisoA sagamiharaA samukawaA tsukuiA yamakitaA yamatoA yokosukaA
yugawaraA zamaA zushiA cityH cityH cityH akiA geiseiA hidakaA higashitsunoA inoA kagamiA kamiA kitagawaA
kochiA miharaA motoyamaA murotoA nahariA nakamuraA nankokuA nishitosaA niyodogawaA ochiA okawaA otoyoA
otsukiA sakawaA sukumoA susakiA tosaA tosashimizuA toyoA tsunoA umajiA yasudaA yusuharaA amakusaA araoA asoA
choyoA gyokutoA kamiamakusaA kikuchiA kumamotoA mashikiA mifuneA minamataA minamioguniA nagasuA nishiharaA
oguniA ozuA sumotoA takamoriA ukiA utoA yamagaA yamatoA yatsushiroA ayabeA fukuchiyamaA higashiyamaA ideA
ineA joyoA kameokaA kamoA kitaA kizuA kumiyamaA kyotambaA kyotanabeA kyotangoA maizuruA minamiA
minamiyamashiroA miyazuA mukoA nagaokakyoA nakagyoA nantanA oyamazakiA sakyoA seikaA tanabeA ujiA ujitawaraA
wazukaA yamashinaA yawataA asahiA inabeA iseA kameyamaA kawagoeA kihoA kisosakiA kiwaA komonoA kumanoA
kuwanaA matsusakaA meiwaA mihamaA minamiiseA misugiA miyamaA nabariA shimaA suzukaA tadoA taikiA takiA
tamakiA tobaA tsuA udonoA ureshinoA wataraiA yokkaichiA furukawaA higashimatsushimaA ishinomakiA iwanumaA
kakudaA kamiA kawasakiA marumoriA matsushimaA minamisanrikuA misatoA murataA natoriA ogawaraA ohiraA onagawaA
osakiA rifuA semineA shibataA shichikashukuA shikamaA shiogamaA shiroishiA tagajoA taiwaA tomeA tomiyaA
wakuyaA watariA yamamotoA zaoA ayaA ebinoA gokaseA hyugaA kadogawaA kawaminamiA kijoA kitagawaA kitakataA
kitauraA kobayashiA kunitomiA kushimaA mimataA miyakonojoA miyazakiA morotsukaA nichinanA nishimeraA nobeokaA
saitoA shiibaA shintomiA takaharuA takanabeA takazakiA tsunoA achiA agematsuA ananA aokiA asahiA azuminoA
chikuhokuA chikumaA chinoA fujimiA hakubaA haraA hirayaA iidaA iijimaA iiyamaA iizunaA ikedaA ikusakaA inaA
karuizawaA kawakamiA kisoA kisofukushimaA kitaaikiA komaganeA komoroA matsukawaA matsumotoA miasaA
minamiaikiA minamimakiA minamiminowaA minowaA miyadaA miyotaA mochizukiA naganoA nagawaA nagisoA nakagawaA
nakanoA nozawaonsenA obuseA ogawaA okayaA omachiA omiA ookuwaA ooshikaA otakiA otariA sakaeA sakakiA sakuA
sakuhoA shimosuwaA shinanomachiA shiojiriA suwaA suzakaA takagiA takamoriA takayamaA tateshinaA tatsunoA
togakushiA toguraA tomiA uedaA wadaA yamagataA yamanouchiA yasakaA yasuokaA chijiwaA futsuA gotoA hasamiA
hiradoA ikiA isahayaA kawatanaA kuchinotsuA matsuuraA nagasakiA obamaA omuraA osetoA saikaiA saseboA seihiA
shimabaraA shinkamigotoA togitsuA tsushimaA unzenA cityH andoA goseA heguriA higashiyoshinoA ikarugaA ikomaA
kamikitayamaA kanmakiA kashibaA kashiharaA katsuragiA kawaiA kawakamiA kawanishiA koryoA kurotakiA mitsueA
miyakeA naraA nosegawaA ojiA oudaA oyodoA sakuraiA sangoA shimoichiA shimokitayamaA shinjoA soniA takatoriA
tawaramotoA tenkawaA tenriA udaA yamatokoriyamaA yamatotakadaA yamazoeA yoshinoA aseinetP2CF00006 gehirnC
agaA aganoA gosenA itoigawaA izumozakiA joetsuA kamoA kariwaA kashiwazakiA minamiuonumaA mitsukeA muikaA
murakamiA myokoA nagaokaA niigataA ojiyaA omiA sadoA sanjoA seiroA seirouA sekikawaA shibataA tagamiA tainaiA
tochioA tokamachiA tsubameA tsunanA uonumaA yahikoA yoitaA yuzawaA beppuA bungoonoA bungotakadaA hasamaA
hijiA himeshimaA hitaA kamitsueA kokonoeA kujuA kunisakiA kusuA oitaA saikiA taketaA tsukumiA usaA usukiA
yufuA akaiwaA asakuchiA bizenA hayashimaA ibaraA kagaminoA kasaokaA kibichuoA kumenanA kurashikiA maniwaA
misakiA nagiA niimiA nishiawakuraA okayamaA satoshoA setouchiA shinjoA shooA sojaA takahashiA tamanoA
tsuyamaA wakeA yakageA aguniA ginowanA ginozaA gushikamiA haebaruA higashiA hiraraA iheyaA ishigakiA
ishikawaA itomanA izenaA kadenaA kinA kitadaitoA kitanakagusukuA kumejimaA kunigamiA minamidaitoA motobuA
nagoA nahaA nakagusukuA nakijinA nanjoA nishiharaA ogimiA okinawaA onnaA shimojiA taketomiA taramaA
tokashikiA tomigusukuA tonakiA urasoeA urumaA yaeseA yomitanA yonabaruA yonaguniA zamamiA abenoA
chihayaakasakaA chuoA daitoA fujiideraA habikinoA hannanA higashiosakaA higashisumiyoshiA higashiyodogawaA
hirakataA ibarakiA ikedaA izumiA izumiotsuA izumisanoA kadomaA kaizukaA kananA kashiwaraA katanoA
kawachinaganoA kishiwadaA kitaA kumatoriA matsubaraA minatoA minohA misakiA moriguchiA neyagawaA nishiA noseA
osakasayamaA sakaiA sayamaA sennanA settsuA shijonawateA shimamotoA suitaA tadaokaA taishiA tajiriA takaishiA
takatsukiA tondabayashiA toyonakaA toyonoA yaoA ariakeA aritaA fukudomiA genkaiA hamatamaA hizenA imariA
kamimineA kanzakiA karatsuA kashimaA kitagataA kitahataA kiyamaA kouhokuA kyuragiA nishiaritaA ogiA omachiA
ouchiA sagaA shiroishiA takuA taraA tosuA yoshinogariA arakawaA asakaA chichibuA fujimiA fujiminoA fukayaA
hannoA hanyuA hasudaA hatogayaA hatoyamaA hidakaA higashichichibuA higashimatsuyamaA honjoA inaA irumaA
iwatsukiA kamiizumiA kamikawaA kamisatoA kasukabeA kawagoeA kawaguchiA kawajimaA kazoA kitamotoA koshigayaA
kounosuA kukiA kumagayaA matsubushiA minanoA misatoA miyashiroA miyoshiA moroyamaA nagatoroA namegawaA niizaA
oganoA ogawaA ogoseA okegawaA omiyaA otakiA ranzanA ryokamiA saitamaA sakadoA satteA sayamaA shikiA shiraokaA
sokaA sugitoA todaA tokigawaA tokorozawaA tsurugashimaA urawaA warabiA yashioA yokozeA yonoA yoriiA yoshidaA
yoshikawaA yoshimiA cityH cityH aishoA gamoA higashiomiA hikoneA kokaA konanA koseiA kotoA kusatsuA maibaraA
moriyamaA nagahamaA nishiazaiA notogawaA omihachimanA otsuA rittoA ryuohA takashimaA takatsukiA torahimeA
toyosatoA yasuA akagiA amaA gotsuA hamadaA higashiizumoA hikawaA hikimiA izumoA kakinokiA masudaA matsueA
misatoA nishinoshimaA ohdaA okinoshimaA okuizumoA shimaneA tamayuA tsuwanoA unnanA yakumoA yasugiA yatsukaA
araiA atamiA fujiA fujiedaA fujikawaA fujinomiyaA fukuroiA gotembaA haibaraA hamamatsuA higashiizuA itoA
iwataA izuA izunokuniA kakegawaA kannamiA kawanehonA kawazuA kikugawaA kosaiA makinoharaA matsuzakiA
minamiizuA mishimaA morimachiA nishiizuA numazuA omaezakiA shimadaA shimizuA shimodaA shizuokaA susonoA
yaizuA yoshidaA ashikagaA batoA hagaA ichikaiA iwafuneA kaminokawaA kanumaA karasuyamaA kuroisoA mashikoA
mibuA mokaA motegiA nasuA nasushiobaraA nikkoA nishikataA nogiA ohiraA ohtawaraA oyamaA sakuraA sanoA
shimotsukeA shioyaA takanezawaA tochigiA tsugaA ujiieA utsunomiyaA yaitaA aizumiA ananA ichibaA itanoA
kainanA komatsushimaA matsushigeA mimaA minamiA miyoshiA mugiA nakagawaA narutoA sanagochiA shishikuiA
tokushimaA wajikiA adachiA akirunoA akishimaA aogashimaA arakawaA bunkyoA chiyodaA chofuA chuoA edogawaA
fuchuA fussaA hachijoA hachiojiA hamuraA higashikurumeA higashimurayamaA higashiyamatoA hinoA hinodeA
hinoharaA inagiA itabashiA katsushikaA kitaA kiyoseA kodairaA koganeiA kokubunjiA komaeA kotoA kouzushimaA
kunitachiA machidaA meguroA minatoA mitakaA mizuhoA musashimurayamaA musashinoA nakanoA nerimaA ogasawaraA
okutamaA omeA oshimaA otaA setagayaA shibuyaA shinagawaA shinjukuA suginamiA sumidaA tachikawaA taitoA tamaA
toshimaA chizuA hinoA kawaharaA kogeA kotouraA misasaA nanbuA nichinanA sakaiminatoA tottoriA wakasaA yazuA
yonagoA asahiA fuchuA fukumitsuA funahashiA himiA imizuA inamiA johanaA kamiichiA kurobeA nakaniikawaA
namerikawaA nantoA nyuzenA oyabeA tairaA takaokaA tateyamaA togaA tonamiA toyamaA unazukiA uozuA yamadaA
aridaA aridagawaA goboA hashimotoA hidakaA hirogawaA inamiA iwadeA kainanA kamitondaA katsuragiA kiminoA
kinokawaA kitayamaA koyaA kozaA kozagawaA kudoyamaA kushimotoA mihamaA misatoA nachikatsuuraA shinguA
shirahamaA taijiA tanabeA wakayamaA yuasaA yuraA asahiA funagataA higashineA iideA kahokuA kaminoyamaA
kaneyamaA kawanishiA mamurogawaA mikawaA murayamaA nagaiA nakayamaA nanyoA nishikawaA obanazawaA oeA oguniA
ohkuraA oishidaA sagaeA sakataA sakegawaA shinjoA shiratakaA shonaiA takahataA tendoA tozawaA tsuruokaA
yamagataA yamanobeA yonezawaA yuzaA abuA hagiA hikariA hofuA iwakuniA kudamatsuA mitouA nagatoA oshimaA
shimonosekiA shunanA tabuseA tokuyamaA toyotaA ubeA yuuA chuoA doshiA fuefukiA fujikawaA fujikawaguchikoA
fujiyoshidaA hayakawaA hokutoA ichikawamisatoA kaiA kofuA koshuA kosugeA minami-alpsA minobuA nakamichiA
nanbuA narusawaA nirasakiA nishikatsuraA oshinoA otsukiA showaA tabayamaA tsuruA uenoharaA yamanakakoA
yamanashiA cityH blogspotC upaasC devC sitesC localhostC siteC blogspotC forgotC forgotC prodP2CF60005 1C 2C
centralusC eastasiaC eastus2C westeuropeC westus2C rC uC fra1-deC west1-usC jls-sto1C jls-sto2C jls-sto3C
freetlsC mapC prodP2CF;000; sslP2CFF000> mapC paasP2CG40016 hostingF webpaasF jelasticC nordeste-idcC jC socC
userC betaC pagesC jelasticC jelasticP2CH:000? storageC websiteC blogspotC gsA gsA nesA gsA nesA gsA osA
valerA xn--vler-qoaA gsA gsA osA gsA heroyA sandeA gsA gsA boA heroyA xn--b-5gaA xn--hery-iraA gsA gsA gsA
gsA valerA gsA gsA gsA gsA boA xn--b-5gaA gsA gsA gsA sandeA gsA sandeA xn--hery-iraA xn--vler-qoaA blogspotC
stagingC teleC cC rscC originP2CHI0005 goC homeC alC assoC atC auC beC bgC caC cdC chC cnC cyC czC deC dkC
eduC eeC esC fiC frC grC hrC huC ieC ilC inC intC isC itC jpC krC ltC luC lvC mcC meC mkC mtC myC netC ngC
nlC noC nzC parisC plC ptC q-aC roC ruC seC siC skC trC ukC usC cloudC osP2CHN0005 stgP2CI3000< s3C apA griwA
icA isA kmpspA konsulatA kppspA kwpA kwpspA mupA mwA oirmA oumA paA pinbA piwA poA pspA psseA pupA rzgwA saA
sdnA skoA soA srA starostwoA ugA ugimA umA umigA upowA uppoA usA uwA uzsA wifA wiihA winbA wiosA witdA wiwA
wsaA wskrA wuozA wzmiuwA zpA bciC shopC hbC vpsC hostingF landingF spectrumF vpsF jelasticC serviceC suC bcC
entC euC usC directC blogspotC govA mymailerC adimoC barsyC barsyonlineC blogspotC bytemarkP2CI?0008
layershiftP2CIG0003 myspreadshopC nh-servC no-ipC retrosnubP2CIJ0006 wellbeingzoneC apiC campaignC
homeofficeC serviceC affinitylotteryC glugC lugC lugsC raffleentryC weeklylotteryC ccA k12A libA ccA k12A
libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA
k12A libC phxC ccA k12A libA ccA k12A libA ccA k12A libA ccA libA ccA k12A libA ccA k12A libA ccA k12A libA
ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12Q2CJ0000C libA ccA k12A libA ccA k12A libA
ann-arborA ccA cogA dstA eatonA genA k12A libA musA tecA washtenawA ccA k12A libA ccA k12A libA ccA k12A libA
ccA k12A libA ccA k12A libA ccA libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA
ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA libA ccA k12A libA
ccA libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA
ccA k12A libA ccA ccA k12A libA blogspotC dC blogspotC melC schoolsA scaleP2CJC0007 alp1C eurP2CJJ0005
fr-par-1C fr-par-2C nl-ams-1C fncS2CJO000; k8sS2CK:0007 s3C s3-websiteC whmC privC pubC k8sS2CKA0007 s3C
s3-websiteC whmC k8sS2CKH0007 s3C s3-websiteC cn-north-1P2CKO0004 computeF ebP2CL3000L elbF cloud9P2CLO000E
cloud9P2CMD000E cloud9P2CN9000E dualstackP2CNN0004 cloud9P2CO2000E dualstackP2COG0004 s3C s3-websiteC
cloud9P2COK000E cloud9P2D0@000E dualstackP2D150004 s3C s3-websiteC cloud9P2D19000E dualstackP2D1N0004
cloud9P2D22000E dualstackP2D2G0004 cloud9P2D2K000E dualstackP2D3@0004 s3C s3-websiteC cloud9P2D3D000E
dualstackP2D490004 s3C s3-websiteC cloud9P2D4=000E cloud9P2D52000E cloud9P2D5G000E dualstackP2D6<0004
cloud9P2D6@000E dualstackP2D750004 s3C s3-websiteC cloud9P2D79000E dualstackP2D7N0004 s3C s3-websiteC
cloud9P2D82000E cloud9P2D8G000E dualstackP2D9<0004 cloud9P2D9@000E dualstackP2D:50004 cloud9P2D:9000E
dualstackP2D:N0004 s3C s3-websiteC cloud9P2D;2000E cloud9P2D;G000E jC fltC usrC pagesC custC reservdC custC
reservdC custC custC reservdC jelasticP2D<<0007 userC cdnC aC globalC aC bC globalC fr-1C lon-1C lon-2C ny-1C
ny-2C sg-1C atlC njsC ricC sslC appC osP2D<C0005 dhC vmC jC custC chtrA parochA pvtA usersC it1C functionsC
nodesC nodesC nodesC s3C cn-north-1C cn-northwest-1C vfsC webview-assetsC vfsC webview-assetsC vfsC
webview-assetsC s3C vfsC webview-assetsC s3C vfsC webview-assetsC vfsC webview-assetsC s3C vfsC
webview-assetsC s3C vfsC webview-assetsC s3C vfsC webview-assetsC s3C vfsC webview-assetsC s3C vfsC
webview-assetsC vfsC webview-assetsC vfsC webview-assetsC s3C vfsC webview-assetsC s3C vfsC webview-assetsC
s3C vfsC webview-assetsC vfsC webview-assetsC s3C vfsC webview-assetsC s3C vfsC webview-assetsC s3C vfsC
webview-assetsC vfsC webview-assetsC cloudC appC

"""

    /// How many bytes the labels at the top take.
    static let topLevelLength = 13965
}
